; A script answers the tool and the operation, so no Python runs.
(test "what is out of stock is ordered"
  file: "shop.sexp"
  script: [[(model {task: "answer"}) "Yes."]
           [(stock "Green tea") {packets: 0 price: 4.5}]
           [(order "Green tea" 20) "ordered"]
           [(stock "Black tea") {packets: 0 price: 3.9}]
           [(order "Black tea" 20) "ordered too"]]
  expect: {answer: "Yes." shelf: ["ordered" "ordered too"]})

(test "the model looks at the shelf"
  file: "shop.sexp"
  replies: "replies.json"
  script: [[(tool "stock" {name: "green tea"}) {packets: 12 price: 4.5}]
           [(stock _) {packets: 0 price: 4.5}]
           [(order _ 20) "ordered"]
           [(stock _) {packets: 0 price: 4.5}]
           [(order _ 20) "ordered"]]
  match: {answer: "Yes, there are twelve packets of green tea."})
