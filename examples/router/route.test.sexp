(define (goes-to desk) (json-string {desk: desk sure: true}))

(test "each letter is answered by its own desk, and the answers keep the order"
  file: "route.sexp"
  files: {"letters.txt": "It leaks.\nWhen?"}
  script: [{task: "route" contains: "leaks" reply: (goes-to "repair")}
           {task: "route" reply: (goes-to "question")}
           {task: "repair" reply: "Tighten the lid."}
           {task: "question" reply: "At nine."}]
  expect: "repair: Tighten the lid.\nquestion: At nine.")

(test "a desk that does not exist is told to the router, which corrects itself"
  file: "route.sexp"
  files: {"letters.txt": "My money!"}
  script: [{task: "route" contains: "got \"cargo\"" reply: (goes-to "refund")}
           {task: "route" reply: (goes-to "cargo")}
           {task: "refund" reply: "We look at it."}]
  expect: "refund: We look at it.")

(test "a router that is not sure asks no desk"
  file: "route.sexp"
  files: {"letters.txt": "Hello?"}
  script: [[(model {task: "route"}) (json-string {desk: "question" sure: false})]]
  expect: "a person: please read this one"
  requests: [(read-file) (model {task: "route"})])

(test "a router that fails costs its own letter alone"
  file: "route.sexp"
  files: {"letters.txt": "Hello?\nWhen?"}
  script: [{task: "route" contains: "Hello" reply: "I would rather not."}
           {task: "route" reply: (goes-to "question")}
           {task: "question" reply: "At nine."}]
  expect: "a person: please read this one\nquestion: At nine.")
