(test "the main model answers"
  file: "fallback.sexp"
  inputs: {question: "Tea?"}
  script: [[(model {model: "main"}) "Yes."]]
  expect: "Yes.")

(test "it is overloaded"
  file: "fallback.sexp"
  inputs: {question: "Tea?"}
  script: [[(model {model: "main"}) {error: "overloaded_error"}] [(model {model: "backup"}) "No."]]
  expect: "No.")

(test "it is not there"
  file: "fallback.sexp"
  inputs: {question: "Tea?"}
  script: [[(model {model: "main"}) (raise {reason: "connection_error" message: "nobody is there"})]
           [(model {model: "backup"}) "No."]]
  expect: "No.")

(test "neither is there"
  file: "fallback.sexp"
  inputs: {question: "Tea?"}
  script: [{reply: {error: "overloaded_error"}}]
  error: "llm_error")
