(define (reply text)
  {content: [{type: "text" text: text}] stop_reason: "end_turn"})

(test "equal texts are asked for once in a list that is done in parallel"
  file: "cache.sexp"
  inputs: {texts: ["tea" "milk"]}
  files: {}
  script: [{contains: "tea" reply: "Wet."} {contains: "milk" reply: "White."}]
  expect: ["Wet." "White."])
