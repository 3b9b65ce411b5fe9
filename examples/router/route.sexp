; Letters in, answers out: a cheap model says which desk a letter is for, and the task of that desk
; answers it. What the router is not sure of, and what it cannot sort, is left to a person.

(define-input letters type: file default: "letters.txt" doc: "a letter a line")

(define-type Route {desk: (one-of "refund" "repair" "question") sure: boolean})

(defatom route
  (params (letter string))
  (model "fast")
  (instructions """
    Which desk of a shop answers this letter, and are you sure?
    refund: the customer wants money back.
    repair: something that was bought does not work.
    question: anything else that a customer wants to know.

    {{letter}}
    """)
  (returns Route))

(defatom refund
  (params (letter string))
  (system "You answer for the accounts of a shop. Name the order and the sum. Promise nothing.")
  (limits max_output_tokens: 200)
  (instructions "{{letter}}"))

(defatom repair
  (params (letter string))
  (system "You mend lamps and kettles. Give one thing to try, then the address of the workshop.")
  (limits max_output_tokens: 200)
  (instructions "{{letter}}"))

(defatom question
  (params (letter string))
  (system "You answer in one sentence. The shop is open from nine to six, on Saturday until two.")
  (limits max_output_tokens: 200)
  (instructions "{{letter}}"))

(define desks {refund: refund repair: repair question: question})

(define (answer letter)
  "Who answers a letter, and what."
  (match (attempt (route letter))
    ({desk: desk sure: true} (str desk ": " ((get desks desk) letter)))
    (_ "a person: please read this one")))

(string-join (par-map answer (string-lines (read-file letters)) limit: 4) "\n")
