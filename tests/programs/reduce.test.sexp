(test "five documents are summarized alone, then by three, until one is left"
  file: "reduce.sexp"
  files: {"documents/1.txt": "one"
          "documents/2.txt": "two"
          "documents/3.txt": "three"
          "documents/4.txt": "four"
          "documents/5.txt": "five"}
  script: [{task: "summarize" contains: "one" reply: "ONE"}
           {task: "summarize" reply: "more"}
           {task: "combine" contains: "ONE" times: 1 reply: "one of three"}
           {task: "combine" contains: "one of three" reply: "all five"}
           {task: "combine" reply: "two of three"}]
  expect: "all five")

(test "one document is its summary"
  file: "reduce.sexp"
  files: {"documents/1.txt": "one"}
  script: [{task: "summarize" reply: "ONE"}]
  expect: "ONE")

(test "no documents, no model call"
  file: "reduce.sexp"
  files: {}
  expect: "no documents")
