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

(test "the model is told what the shelf cannot say"
  file: "shop.sexp"
  inputs: {question: "Is there mate?"}
  script: [[(model {task: "answer" tool_choice: "any"})
            {tool_use: {name: "stock" input: {name: "mate"}}}]
           [(tool "stock" {name: "mate"}) (error "KeyError: 'mate'")]
           {contains: "KeyError" reply: "We have no mate."}
           [(stock "Green tea") {packets: 0 price: 4.5}]
           [(order "Green tea" 20) "ordered"]
           [(stock "Black tea") {packets: 0 price: 3.9}]
           [(order "Black tea" 20) "ordered"]]
  expect: {answer: "We have no mate." shelf: ["ordered" "ordered"]})

(test "an order that fails ends the program"
  file: "shop.sexp"
  script: [[(model {task: "answer"}) "Yes."]
           [(stock "Green tea") {packets: 0 price: 4.5}]
           [(order "Green tea" 20) (error "the importer is closed")]]
  error: ["raised" "the importer is closed"])
