(define (invoice day pieces total)
  (json-string {kind: "invoice"
                from: "Mill"
                number: "7"
                day: day
                lines: [{item: "loaf" pieces: pieces price: 4.5}]
                total: total}))
(define (row is of number total)
  (markdown-table [{letter: "letters/a.txt" is: is of: of number: number total: total}]))

(test "an invoice"
  file: "read.sexp"
  files: {"letters/a.txt": "Mill: 3 loaves"}
  script: [{task: "read-letter" reply: (invoice "2026-05-03" 3 13.5)}]
  expect: (row "invoice" "Mill" "7" "13.50"))

(test "lines that do not add up are read again"
  file: "read.sexp"
  files: {"letters/a.txt": "Mill: 3 loaves"}
  script: [{contains: "add up to 9.00, and the total is 13.50" reply: (invoice "2026-05-03" 3 13.5)}
           {task: "read-letter" reply: (invoice "2026-05-03" 2 13.5)}]
  expect: (row "invoice" "Mill" "7" "13.50"))

(test "a field that another kind has is told by the kind that was meant"
  file: "read.sexp"
  files: {"letters/a.txt": "Mill: 3 loaves"}
  script: [{contains: "number: it is missing"
            reply: "{\"kind\": \"reminder\", \"from\": \"Mill\", \"number\": \"7\"}"}
           {task: "read-letter" reply: "{\"kind\": \"reminder\", \"from\": \"Mill\"}"}]
  expect: (row "reminder" "Mill" "7" ""))

(test "an invoice that never fits is a row, and the other letters are read"
  file: "read.sexp"
  files: {"letters/a.txt": "Mill: 3 loaves" "letters/b.txt": "Thank you!"}
  script: [{contains: "Mill" reply: (invoice "3 May" 3 13.5)}
           {contains: "Thank" reply: "{\"kind\": \"other\", \"about\": \"thanks\"}"}]
  expect: (str (row "to look at"
                    "the task's answer is not valid: 3 May is no day: write 2026-12-31."
                    ""
                    "")
               "| letters/b.txt | other | thanks |  |  |\n"))
