; A question about a table: a model writes a program for it. The program is checked, and runs with the
; rows of the table and nothing else; what is wrong with it is told to the model.

(define-input table type: file default: "orders.csv" doc: "a CSV file")
(define-input question default: "Which city spent most, and how much?")

(define rows (csv-parse (read-file table)))

(defatom write-program
  (params (question string) (row table))
  (system """
    You write a program in a small Lisp, and nothing else. `rows` is a list of tables; its fields are
    texts. A name is defined once, nothing is assigned.
      (define (f x) (+ x 1))   (lambda (x) x)   (let ((a 1) (b 2)) (+ a b))   (if test a b)
      row.city   {city: "Bonn" sum: 3}   [1 2 3]   (string->number "4.5")   (format "~a: ~,2f" a b)
      (map f xs)   (filter f xs)   (fold f 0 xs)   (sum xs)   (max-by f xs)   (sort-by f xs)
      (group-by f xs) gives [[key items] …]   (first xs)   (second xs)   (length xs)
    The last form is the answer.
    """)
  (instructions """
    Write the program that answers: {{question}}
    The first row is {{row}}.
    """)
  (validate _flaw))

(define (code-in text)
  "The text of a program, without the fence that models like to put around it."
  (match (string-split text "```")
    ([_ fenced . _] (string-join (rest (string-split fenced "\n")) "\n"))
    (_ text)))

(define (outcome text)
  "What a program gives: it may perform nothing, and has 200,000 steps."
  (eval-plan (str "(define-input rows type: list)\n" (code-in text))
    inputs: {rows: rows}
    budget: {steps: 200000}))

(define (_flaw text)
  (match (outcome text)
    ({status: "done"} nil)
    ({diagnostics: [{code: "plan-denied" title: what} . _]}
     (str what ": it has the rows, and may do nothing else."))
    ({diagnostics: [{title: what hint: hint} . _]}
     (str "It is refused: " what ". " (or hint "")))
    ({error: {message: what hint: hint}} (str "It fails: " what ". " (or hint "")))))

(define program (write-program question (first rows)))
(format "~a~%~%~a" (string-trim (code-in program)) (get (outcome program) "value"))
