(define (reply total)
  (json-string {number: "7"
                date: "2026-11-27"
                lines: [{item: "tea" amount: 4.1} {item: "cup" amount: 8.2}]
                total: total}))

(test "lines that do not add up are told to the model in the same conversation"
  file: "invoice.sexp"
  inputs: {invoice: "7.txt"}
  files: {"7.txt": "Invoice 7"}
  script:
    [[(model {task: "extract"}) (reply 12)]
     [(model
        {messages:
           [_
            _
            {content:
               [{text: "The lines add up to 12.30 and the total is 12.00. Read them again."}]}]})
      (reply 12.3)]]
  match: {number: "7" total: 12.3})

(test "a date that is none does not fit the type"
  file: "invoice.sexp"
  inputs: {invoice: "7.txt"}
  files: {"7.txt": "Invoice 7"}
  script: [{contains: "date"
            times: 1
            reply: "{\"number\": \"7\", \"date\": \"soon\", \"lines\": [], \"total\": 0}"}
           {reply: "{\"number\": \"7\", \"date\": \"2026-11-27\", \"lines\": [], \"total\": 0}"}]
  match: {date: "2026-11-27"})

(test "two complaints are enough"
  file: "invoice.sexp"
  inputs: {invoice: "7.txt"}
  files: {"7.txt": "Invoice 7"}
  script: [{reply: "{\"number\": \"7\", \"date\": \"2026-11-27\", \"lines\": [], \"total\": 1}"}]
  error: ["raised" "add up to 0.00"])
