; A flight and a seat: one model reads what a site offers, one chooses, one understands the customer.

(define-input from default: "Turku")
(define-input to default: "Rome")
(define-input day default: "2026-05-04")

(define-type Flight {number: string from: string to: string day: string price: number})
(define-type Seat {row: integer seat: (one-of "A" "B" "C" "D" "E" "F")})

(defatom read-flights
  (params (page string))
  (instructions "Which flights does this page offer?\n\n{{page}}")
  (returns [Flight]))

(defatom choose-flight
  (params (from string) (to string) (day string) (flights [Flight]))
  (instructions "The cheapest flight from {{from}} to {{to}} on {{day}}, or null: {{flights}}")
  (returns (or Flight nil))
  (validate _wrong-flight))

(defatom read-seat
  (params (words string))
  (instructions
    "Which seat is meant? Rows 1 and 14 have more room, A and F are at the window.\n\n{{words}}")
  (returns Seat)
  (validate _wrong-seat))

(define (_wrong-flight flight)
  (cond ((nil? flight) nil)
        ((not (equal? [flight.from flight.to] [from to]))
         (format "It has to go from ~a to ~a." from to))
        ((not (equal? flight.day day)) (format "It has to go on ~a." day))))

(define (_wrong-seat seat)
  (unless (<= 1 seat.row 30) "There are rows 1 to 30."))

(define (offer flights)
  "Offers flights, the best first, until the customer takes one."
  (bind flight (choose-flight from to day flights))
  (if (nil? flight)
      "There is no such flight."
      (case (ask-user (format "~a for ~,2f?" flight.number flight.price) ["buy" "next" "stop"])
        ("buy"
         (bind place (read-seat (ask-user "Which seat?")))
         (write-file "booking.txt" (format "~a ~a~a~%" flight.number place.row place.seat))
         (format "~a is booked, seat ~a~a." flight.number place.row place.seat))
        ("next" (offer (filter (lambda (each) (!= each.price flight.price)) flights)))
        (else "Nothing is booked."))))

(with-budget {calls: 20} (offer (read-flights (read-file "flights.txt"))))
