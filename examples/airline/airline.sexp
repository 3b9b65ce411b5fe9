; A customer talks with three desks that share one conversation: triage, questions, seats. A desk
; answers, or hands the customer to another one. Between two messages the run waits, for days too.

(define-input message default: "Hello!" doc: "the customer's first words; later ones are asked for")

(define-type Turn {say?: string to?: (one-of "triage" "faq" "seats")})

(define-tool (look-up (topic (one-of "bags" "meals" "wifi")))
  "What the airline says about a topic."
  (attempt (read-file (str "faq/" topic ".txt")) "Nothing is known about that."))

(define-tool (book-seat (booking string) (seat string doc: "such as 12A"))
  "Books a seat for a booking."
  (write-file (str "bookings/" booking "-seat.txt") (str seat "\n"))
  (str "seat " seat " is booked for " booking))

(defatom triage
  (params (message string))
  (system "Find out what the customer wants. Hand questions to `faq` and seats to `seats`.")
  (instructions "{{message}}")
  (returns Turn))

(defatom faq
  (params (message string))
  (system "Answer from what you look up, never from memory. Hand all else to `triage`.")
  (instructions "{{message}}")
  (allowed_tools look-up)
  (returns Turn))

(defatom seats
  (params (message string))
  (system "Book seats: ask for the booking and the seat. Hand all else to `triage`.")
  (instructions "{{message}}")
  (allowed_tools (in-order book-seat))
  (returns Turn))

(define desks {triage: triage faq: faq seats: seats})

(define (chat desk past message)
  "The conversation, when the customer has nothing to add."
  (bind result (call-atomic-task (get desks desk) inputs: {message: message} history: past))
  (bind {notes: {history: said}} result)
  (bind turn (answer result))
  (if turn.to
      (chat turn.to said "The customer is yours now: answer what was said last.")
      (match (ask-user turn.say)
        ((? string-blank? _) said)
        (words (chat desk said words)))))

(define all (with-budget {calls: 100} (chat "triage" [] message)))
(str (length all) " messages")
