; sexplang test examples/search-notes

(test "what has words of the question is read"
  file: "ask.sexp"
  inputs: {question: "How long do the leaves steep?"}
  replies: "replies.json"
  files: {"notes/cat.txt": "The cat sleeps.\n"
          "notes/pay.txt": "Invoices are paid.\n"
          "notes/tea.txt": "Let the leaves steep.\n"}
  expect: "Boil water, and let the leaves steep for two minutes.")

(test "the nearest notes go to the model, the best first"
  file: "ask.sexp"
  inputs: {question: "tea" folder: "mine"}
  files: {"mine/1.txt": "a" "mine/2.txt": "b" "mine/3.txt": "c"}
  script: [[(model {embed: ["tea"]}) {embeddings: [[1 0]]}]
           [(model {embed: ["a" "b" "c"]}) {embeddings: [[0 1] [1 1] [1 0]]}]
           [(print "read:" "mine/3.txt, mine/2.txt")]
           {task: "answer-from-notes" contains: "[\"c\", \"b\"]" reply: "Done."}]
  expect: "Done.")

(test "a model that makes no vectors cannot search"
  file: "ask.sexp"
  inputs: {question: "tea"}
  files: {"notes/tea.txt": "Let the leaves steep.\n"}
  script: [[(model {embed: _}) {error: "not_found_error"}]]
  error: "llm_error")

(test "an empty folder has nothing to read"
  file: "ask.sexp"
  inputs: {question: "tea"}
  replies: "replies.json"
  files: {}
  expect: "The notes do not say.")
