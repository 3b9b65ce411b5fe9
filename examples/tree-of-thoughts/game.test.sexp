(define first-line "5 * 6 = 30, 10 - 4 = 6, 30 - 6 = 24")
(define second-line "5 * 6 = 30, 30 - 10 = 20, 20 + 4 = 24")
(define (step left op right) {left: left op: op right: right})
(define (steps . all) (json-string all))

(test "the first way: a dead end is left, and the rest of the tree is not asked for"
  file: "game.sexp"
  replies: "replies.json"
  expect: first-line
  requests: [(model {task: "propose"}) (model) (model) (model) (model)])

(test "the best way first: what is rated impossible is not tried"
  file: "game.sexp"
  inputs: {search: "best"}
  replies: "replies.json"
  expect: second-line
  requests: [(model {task: "propose"}) (model {task: "rate"}) (model {task: "rate"})
             (model {task: "propose"}) (model {task: "rate"}) (model {task: "rate"})
             (model {task: "propose"}) (model {task: "rate"})])

(test "all ways, side by side"
  file: "game.sexp"
  inputs: {search: "all"}
  replies: "replies.json"
  expect: (str first-line "\n" second-line))

(test "numbers that are not there, and a division by zero, are no steps"
  file: "game.sexp"
  inputs: {numbers: [24 0]}
  script: [{reply: (steps (step 24 "/" 0) (step 24 "+" 24) (step 12 "*" 2))}]
  expect: "The model found no way.")

(test "a half is a number too"
  file: "game.sexp"
  inputs: {numbers: [1 2 48]}
  script: [{contains: "[1, 2, 48]" reply: (steps (step 1 "/" 2))}
           {reply: (steps (step 48 "*" 0.5))}]
  expect: "1 / 2 = 0.5, 48 * 0.5 = 24.0")

(test "an operator that there is not is told to the model"
  file: "game.sexp"
  inputs: {numbers: [12 2]}
  script: [{contains: "op: expected one of" reply: (steps (step 12 "*" 2))}
           {reply: (steps (step 12 "^" 2))}]
  expect: "12 * 2 = 24")

(test "a tree that is too large ends with the budget"
  file: "game.sexp"
  inputs: {numbers: [0 0 0 0 0 0 0] search: "all"}
  script: [{reply: (steps (step 0 "+" 0) (step 0 "-" 0) (step 0 "*" 0))}]
  error: RESOURCE_EXHAUSTION)
