; sexplang test .

(test "a row for each document, in the order of their names"
  file: "main.sexp"
  files: {"documents/b.txt": "Invoice 118" "documents/a.txt": "The boiler fails."}
  replies: "replies.json"
  expect: (markdown-table [{document: "a.txt"
                            kind: "request"
                            summary: "The boiler needs a repair this week."}
                           {document: "b.txt"
                            kind: "invoice"
                            summary: "The lock costs 140 euros."}]))

(test "a document that no reply fits is a row too"
  file: "main.sexp"
  files: {"documents/a.txt": "Tea."}
  script: [{task: "sort-document" reply: "I cannot say."} {task: "summarize" reply: "Tea."}]
  match: (? (lambda (table) (string-contains? table "| a.txt | failed |")) _))

(test "no documents, no model call"
  file: "main.sexp"
  inputs: {folder: "nothing"}
  files: {}
  match: (? string? _)
  requests: [(list-files "nothing/*.txt")])
