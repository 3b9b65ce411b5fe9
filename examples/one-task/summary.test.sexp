; sexplang test examples/one-task

(test "the task's answer is the program's value"
  file: "summary.sexp"
  inputs: {note: "We open again on Friday at nine."}
  replies: "replies.json"
  expect: "The library is closed from Monday to Thursday and opens again on Friday at nine.")

(test "the note is part of what the model is asked"
  file: "summary.sexp"
  inputs: {note: "The well is dry."}
  script: [{contains: "The well is dry." reply: "No water."}]
  expect: "No water.")

(test "a model that fails ends the program"
  file: "summary.sexp"
  inputs: {note: "anything"}
  script: [[(model) {error: "connection_error"}]]
  error: ["connection_error" "the script replies with an error"])
