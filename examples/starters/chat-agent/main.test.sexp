; sexplang test .

(define (looks-up word) {tool_use: {name: "look-up" input: {word: word}}})

(test "one message: the model looks a word up and answers"
  file: "main.sexp"
  inputs: {message: "What does a tyre cost?"}
  files: {"notes/prices.txt": "A new tyre costs 35 euros.\nBrake pads cost 20 euros."}
  replies: "replies.json"
  expect: "A new tyre costs 35 euros."
  requests: [(model {task: "clerk"}) (list-files "notes/*.txt") (read-file "notes/prices.txt")
             (model)])

(test "a chat: the second answer knows the first one"
  file: "main.sexp"
  script: [[(ask-user "What can we do for you?") "Are you open today?"]
           {contains: "open today" times: 1 reply: "Yes, until six."}
           [(ask-user "Yes, until six.") "And tomorrow?"]
           {contains: "until six" reply: "Tomorrow too."}
           [(ask-user "Tomorrow too.") ""]]
  expect: "Goodbye.")

(test "a word that no note has is told to the model"
  file: "main.sexp"
  inputs: {message: "Do you sell cars?"}
  files: {}
  script: [{times: 1 reply: (looks-up "car")} {contains: "No note has" reply: "No, only bicycles."}]
  expect: "No, only bicycles.")
