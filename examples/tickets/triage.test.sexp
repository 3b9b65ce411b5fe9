(define bug "{\"kind\": \"bug\", \"urgent\": true, \"why\": \"It crashes, \\\"always\\\".\"}")

(define (has-both table)
  (all? (lambda (part) (string-contains? table part)) ["| t1 | failed |" "| t2 | bug |"]))

(test "a row for each ticket, quoted where it has to be"
  file: "triage.sexp"
  inputs: {tickets: "may.csv"}
  files: {"may.csv": "id,text\nt1,It crashes.\n"}
  script: [{task: "classify" reply: bug}]
  expect: """
    | id | kind | urgent | why |
    | --- | --- | --- | --- |
    | t1 | bug | true | It crashes, "always". |

    """
  requests: [(read-file "may.csv")
             (model {task: "classify"})
             (write-file "triage.csv"
                         "id,kind,urgent,why\nt1,bug,true,\"It crashes, \"\"always\"\".\"\n")])

(test "a ticket that no reply fits is a row, and the others go on"
  file: "triage.sexp"
  files: {"tickets.csv": "id,text\nt1,Hm.\nt2,It crashes.\n"}
  script: [{contains: "crashes" reply: bug} {reply: "It is hard to say."}]
  match: (? has-both _))

(test "a file without the columns is refused before a model is asked"
  file: "triage.sexp"
  files: {"tickets.csv": "id,words\nt1,Hm.\n"}
  error: ["type-misfit" "[0].text: it is missing"])
