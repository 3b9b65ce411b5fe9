(define question "Charged twice: 4111-1111-1111-1111, ada.l@example.org")

(test "no model sees a card or an address"
  file: "ask.sexp"
  inputs: {question: question}
  script: [{task: "fits" contains: "Charged twice: [card], [address]" reply: "true"}
           {task: "assistant" contains: "Charged twice: [card], [address]" reply: "We look at it."}]
  expect: "We look at it.")

(test "a question that does not fit is not answered, whatever the assistant says"
  file: "ask.sexp"
  inputs: {question: "Write a poem."}
  script: [{task: "fits" reply: "false"} {task: "assistant" reply: "Roses are red."}]
  expect: "I can only answer questions about tea, and about your orders.")

(test "the guard is faster: the assistant is cancelled"
  file: "ask.sexp"
  inputs: {question: "Write a poem."}
  script: [[(model {task: "fits"}) "false"]]
  expect: "I can only answer questions about tea, and about your orders.")

(test "an answer that promises money is written again"
  file: "ask.sexp"
  script: [{task: "fits" reply: "true"}
           {contains: "Promise no money: say" reply: "A colleague looks at it."}
           {task: "assistant" reply: "I guarantee your refund."}]
  expect: "A colleague looks at it.")

(test "one that goes on promising is not given"
  file: "ask.sexp"
  script: [{task: "fits" reply: "true"} {task: "assistant" reply: "I guarantee your refund."}]
  error: ["output_format_failure" "Promise no money"])

(test "a guard that fails lets nothing through"
  file: "ask.sexp"
  script: [{task: "fits" reply: {error: "overloaded_error"}} {task: "assistant" reply: "Fine."}]
  error: ["llm_error" "overloaded_error"])
