(define (flight number to price)
  {number: number from: "Turku" to: to day: "2026-05-04" price: price})
(define flights
  [(flight "AY61" "Rome" 139) (flight "AY93" "Rome" 210.5) (flight "AY17" "Paris" 99)])
(define (says value) (json-string {answer: value}))

(test "a flight to another place, and a row that is none, are told to the model"
  file: "book.sexp"
  files: {"flights.txt": "the page"}
  script: [{task: "read-flights" reply: (says flights)}
           {contains: "from Turku to Rome." times: 1 reply: (says (nth flights 0))}
           {task: "choose-flight" reply: (says (nth flights 2))}
           [(ask-user "AY61 for 139.00?" _) "buy"]
           [(ask-user "Which seat?") "far back, at the window"]
           {contains: "rows 1 to 30" reply: "{\"row\": 30, \"seat\": \"F\"}"}
           {task: "read-seat" reply: "{\"row\": 99, \"seat\": \"F\"}"}]
  expect: "AY61 is booked, seat 30F.")

(test "the next one, and then none"
  file: "book.sexp"
  files: {"flights.txt": "the page"}
  script: [[(read-file "flights.txt") "the page"]
           [(model {task: "read-flights"}) (says flights)]
           [(model {task: "choose-flight"}) (says (nth flights 0))]
           [(ask-user "AY61 for 139.00?" _) "next"]
           [(model {task: "choose-flight"}) (says nil)]]
  expect: "There is no such flight.")

(test "a customer who stops pays nothing"
  file: "book.sexp"
  files: {"flights.txt": "the page"}
  script: [{task: "read-flights" reply: (says flights)}
           {task: "choose-flight" reply: (says (nth flights 1))}
           [(ask-user "AY93 for 210.50?" _) "stop"]]
  expect: "Nothing is booked.")
