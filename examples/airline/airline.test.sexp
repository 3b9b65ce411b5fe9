(define (calls tool input) {tool_use: {name: tool input: input}})
(define (hands-to desk) (json-string {to: desk}))
(define (says words) (json-string {say: words}))

(test "a question, then a seat: each desk knows what was said to the others"
  file: "airline.sexp"
  inputs: {message: "How much does a bag cost?"}
  files: {"faq/bags.txt": "One bag is free."}
  script: [[(model {task: "triage"}) (hands-to "faq")]
           [(model {task: "faq"}) (calls "look-up" {topic: "bags"})]
           [(model {task: "faq"}) (says "One is free.")]
           [(ask-user "One is free.") "And a window seat for LH17?"]
           [(model {task: "faq"}) (hands-to "triage")]
           [(model {task: "triage"}) (hands-to "seats")]
           {task: "seats"
            contains: "One bag is free."
            times: 1
            reply: (calls "book-seat" {booking: "LH17" seat: "12A"})}
           {task: "seats" reply: (says "12A is yours.")}
           [(ask-user "12A is yours.") ""]]
  expect: "14 messages"
  requests: [(model)
             (model)
             (read-file "faq/bags.txt")
             (model)
             (ask-user)
             (model)
             (model)
             (model)
             (write-file "bookings/LH17-seat.txt" "12A\n")
             (model)
             (ask-user)])

(test "a desk that is none is asked for again"
  file: "airline.sexp"
  script: [[(model {task: "triage"}) (hands-to "cargo")]
           [(model {task: "triage"}) (says "Hello.")]
           [(ask-user "Hello.") ""]]
  match: (? string? _))

(test "desks that hand the customer round end with the budget"
  file: "airline.sexp"
  script: [{task: "triage" reply: (hands-to "faq")} {task: "faq" reply: (hands-to "triage")}]
  error: RESOURCE_EXHAUSTION)
