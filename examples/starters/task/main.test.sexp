; sexplang test .

(test "the kind is the value, and what is urgent says so"
  file: "main.sexp"
  replies: "replies.json"
  expect: "urgent complaint")

(test "the message is a part of what the model is asked"
  file: "main.sexp"
  inputs: {message: "When do you open?"}
  script: [{contains: "When do you open?" reply: (json-string {kind: "question" urgent: false})}]
  expect: "question")

(test "a kind that does not exist is asked for again"
  file: "main.sexp"
  script: [{times: 1 reply: (json-string {kind: "threat" urgent: true})}
           {reply: (json-string {kind: "complaint" urgent: true})}]
  expect: "urgent complaint"
  requests: [(model {task: "sort-message"}) (model {task: "sort-message"})])
