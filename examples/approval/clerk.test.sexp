(define (calls tool input) {tool_use: {name: tool input: input}})
(define asks-for-money (calls "refund" {order: "17" sum: 40}))

(test "a person says yes: the money is paid, and the model is told"
  file: "clerk.sexp"
  files: {"orders/17.txt": "a kettle, 40 euros"}
  script: [[(model {task: "clerk"}) (calls "look-up" {order: "17"})]
           [(model) asks-for-money]
           [(approve "refund 40 for order 17") "yes"]
           {contains: "40 paid back" reply: "On its way."}]
  expect: "On its way."
  requests: [(model)
             (read-file "orders/17.txt")
             (model)
             (approve)
             (write-file "orders/17-refund.txt" "40\n")
             (model)])

(test "a person says no: nothing is paid, and the model is told"
  file: "clerk.sexp"
  script: [[(model) asks-for-money]
           [(approve) "no"]
           {contains: "not approved" reply: "Send it back."}]
  expect: "Send it back."
  requests: [(model) (approve) (model)])

(test "an order that is not there is told to the model"
  file: "clerk.sexp"
  files: {}
  script: [[(model) (calls "look-up" {order: "9"})]
           {contains: "There is no such order." reply: "Which order?"}]
  expect: "Which order?")
