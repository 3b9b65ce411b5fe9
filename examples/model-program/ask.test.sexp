(define table "city,pieces\nBonn,3\nAachen,4\n")
(define right "(sum (map (lambda (row) (string->number row.pieces)) rows))")

(test "the program of the model and what it gives"
  file: "ask.sexp"
  inputs: {question: "How many pieces?"}
  files: {"orders.csv": table}
  script: [{contains: "How many pieces?" reply: right}]
  expect: (str right "\n\n7"))

(test "a program that would write a file is not run: the model is told, and no file is written"
  file: "ask.sexp"
  files: {"orders.csv": table}
  script: [{contains: "may not perform `write-file`" reply: right}
           {reply: "(write-file \"all.txt\" \"gone\")"}]
  expect: (str right "\n\n7")
  requests: [(read-file) (model) (model)])

(test "a name that there is not, and an error, are told too"
  file: "ask.sexp"
  files: {"orders.csv": table}
  script: [{contains: "`sum` takes a list of numbers" reply: right}
           {contains: "did you mean `string->number`?"
            reply: "(sum (map (lambda (row) row.pieces) rows))"}
           {reply: "(sum (map (lambda (row) (string-number row.pieces)) rows))"}]
  expect: (str right "\n\n7"))

(test "a program that does not end is ended, again and again"
  file: "ask.sexp"
  files: {"orders.csv": table}
  script: [{reply: "(define (f x) (f x))\n(f 1)"}]
  error: ["output_format_failure" "more than 200,000 steps"])

(test "a function is no answer"
  file: "ask.sexp"
  files: {"orders.csv": table}
  script: [{contains: "is not data" reply: right} {reply: "(lambda (row) row.pieces)"}]
  expect: (str right "\n\n7"))
