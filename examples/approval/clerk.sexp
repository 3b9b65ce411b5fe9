; A model answers a customer's letter. It may pay money back, where a person approves: the run waits
; in the middle of the model's turn, for days if it has to.

(define-input letter default: "The kettle of order 17 leaks. I want my money back.")

(define-effect (approve what) "A person answers: yes, or why not.")

(define (look-up order)
  "What is known of an order, by its number."
  (attempt (read-file (str "orders/" order ".txt")) "There is no such order."))

(define (refund order sum)
  "Pays a sum back for an order, if a person approves."
  (case (approve (str "refund " sum " for order " order))
    ("yes"
     (write-file (str "orders/" order "-refund.txt") (str sum "\n"))
     (str sum " paid back for order " order))
    (else "not approved")))

(defatom clerk
  (params (letter string))
  (instructions "Look up what the letter is about, do what is right, and answer it: {{letter}}")
  (allowed_tools look-up refund)
  (limits max_turns: 8))

(clerk letter)
