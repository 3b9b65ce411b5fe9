;;; A model looks at the shelf with a function of Python; the program orders what is out of stock.
(import "tools.py")

(define-input question default: "Is there green tea?")

(defatom answer
  (params question)
  (allowed_tools stock)
  (options tool_choice: any)
  (instructions "You sell tea. Look at the shelf, then answer in one sentence: {{question}}"))

(define (restock name)
  (let ((shelf (stock name)))
    (if (= shelf.packets 0)
        (order name packets: 20)
        (str name " costs " (euros shelf.price)))))

{answer: (answer question) shelf: (map restock ["Green tea" "Black tea"])}
