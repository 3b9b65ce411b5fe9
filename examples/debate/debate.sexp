; Two sides of a question grow out of one conversation: it is continued twice, and each side hears what
; the other said. A judge reads both in either order; only if it is of one mind, a side has won.

(define-input question default: "Should the town library open on Sundays?")
(define-input rounds type: integer default: 2 doc: "how often each side speaks")

(defatom brief
  (params (question string))
  (instructions "{{question}} Name one fact for it and one against it, in a short sentence each.")
  (limits max_output_tokens: 300))

(defatom judge
  (params (question string) (first string) (second string))
  (model "judge")
  (instructions """
    Two speakers argue: {{question}}

    The first: {{first}}

    The second: {{second}}

    Whose arguments are better?
    """)
  (returns {better: (one-of "first" "second") because: string}))

(define (reply-to other)
  (str "The other side says: " (answer other) "\nReply in one sentence."))

(define (debate opening)
  "What each side said, round by round."
  (loop ((round 1)
         (sides (par (continue opening "Speak for it, in one sentence.")
                     (continue opening "Speak against it, in one sentence.")))
         (said []))
    (bind [pro con] sides)
    (bind all (append said [{for: (answer pro) against: (answer con)}]))
    (if (>= round rounds)
        all
        (recur (+ round 1) (par (continue pro (reply-to con)) (continue con (reply-to pro))) all))))

(define (speech side said)
  (string-join (map (lambda (round) (get round side)) said) " "))

(define (verdict said)
  (bind pro (speech "for" said))
  (bind con (speech "against" said))
  (match (par (judge question pro con) (judge question con pro))
    ([{better: "first" because: why} {better: "second"}] (str "For it: " why))
    ([{better: "second" because: why} {better: "first"}] (str "Against it: " why))
    (_ "Undecided: the judge goes by the order of the speakers.")))

(define said (debate (call-task brief question)))
(for-each (lambda (round) (print (format "for: ~a~%against: ~a" round.for round.against))) said)
(verdict said)
