(test "the second draft is good"
  file: "improve.sexp"
  replies: "replies.json"
  expect: "Miller's Bakery. Open from seven."
  requests: [(model {task: "plan"}) (model {task: "write"}) (model {task: "judge"})
             (model {task: "plan"}) (model {task: "write"}) (model {task: "judge"})])

(test "when the turns are used up, the last draft stands"
  file: "improve.sexp"
  inputs: {turns: 1}
  replies: "replies.json"
  expect: "Miller's Bakery.")
