; sexplang test .

(test "what the judge says is in the next prompt"
  file: "main.sexp"
  replies: "replies.json"
  expect: "The lift is out of order until Friday. Thank you for your patience."
  requests: [(model {task: "draft"}) (model {task: "judge"}) (model {task: "draft"})
             (model {task: "judge"})])

(test "a draft that is too long is not shown to the judge"
  file: "main.sexp"
  inputs: {drafts: 2}
  script: [{task: "draft" times: 1 reply: (string-join (map str (range 200)))}
           {task: "draft" contains: "too long" reply: "No lift."}
           {task: "judge" reply: "good"}]
  expect: "No lift."
  requests: [(model {task: "draft"}) (model {task: "draft"}) (model {task: "judge"})])

(test "when the drafts are used up, the last one is the value"
  file: "main.sexp"
  inputs: {drafts: 1}
  script: [{task: "draft" reply: "No lift."} {task: "judge" reply: "incomplete"}]
  expect: "No lift.")
