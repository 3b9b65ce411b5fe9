; sexplang test .

(test "yes: the answer is written"
  file: "main.sexp"
  files: {"letters/kettle.txt": "It leaks."}
  replies: "replies.json"
  script:
    [[(ask-user "We are sorry. A new kettle is on its way.\n\nSend this? (yes, no, or your wishes)")
      "yes"]]
  expect: "sent: answer.txt"
  requests: [(read-file "letters/kettle.txt")
             (model {task: "write-answer"})
             (ask-user)
             (write-file "answer.txt" "We are sorry. A new kettle is on its way.")])

(test "no: nothing is written"
  file: "main.sexp"
  files: {"letters/kettle.txt": "It leaks."}
  replies: "replies.json"
  script: [[(ask-user) "no"]]
  expect: "not sent"
  requests: [(read-file) (model) (ask-user)])

(test "other words are wishes for the next draft"
  file: "main.sexp"
  files: {"letters/kettle.txt": "It leaks."}
  replies: "replies.json"
  script: [[(ask-user) "Offer the money back."]
           [(ask-user
              "We are sorry. Your money is on its way.\n\nSend this? (yes, no, or your wishes)")
            "no"]]
  expect: "not sent")
