; sexplang test examples/search-notes

(test "what has words of the question is read"
  file: "ask.sexp"
  inputs: {question: "How long do the leaves steep?"}
  replies: "replies.json"
  files: {"notes.txt": "Invoices are paid.\nLet the leaves steep.\nThe cat sleeps.\n"}
  expect: "Boil water, and let the leaves steep for two minutes.")

(test "the nearest notes go to the model, the best first"
  file: "ask.sexp"
  inputs: {question: "tea"}
  files: {"notes.txt": "a\nb\nc"}
  script: [[(model {embed: ["tea"]}) {embeddings: [[1 0]]}]
           [(model {embed: ["a" "b" "c"]}) {embeddings: [[0 1] [1 1] [1 0]]}]
           [(print "read:" ["c" "b"])]
           [(model {task: "answer-from-notes"}) "Done."]]
  expect: "Done.")
