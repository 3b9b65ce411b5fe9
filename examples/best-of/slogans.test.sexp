(test "three drafts are better than one"
  file: "slogans.sexp"
  files: {"products.csv": "product\ntea\n"}
  script: [{task: "write-slogan" times: 1 reply: "Tea."}
           [(model {task: "rate"}) "3"]
           {task: "write-slogan" times: 1 reply: "Tea!"}
           {task: "write-slogan" times: 1 reply: "Hot tea!"}
           {task: "write-slogan" times: 1 reply: "Tea tea tea tea tea tea tea"}
           {contains: "Hot tea!" reply: "8"}
           {contains: "It is too long." reply: "Tea, for you."}
           {task: "write-slogan" reply: "Tea tea tea tea tea tea tea"}
           {contains: "Tea, for you." reply: "6"}
           {task: "rate" reply: "2"}]
  expect: (markdown-table [{way: "once" score: 3 failed: 0}
                           {way: "best of 3" score: 8 failed: 0}
                           {way: "refined" score: 6 failed: 0}]))

(test "a product that fails is a row with the score 0"
  file: "slogans.sexp"
  files: {"products.csv": "product\ntea\n"}
  script: [{task: "write-slogan" reply: {error: "overloaded_error"}}]
  match: (? (lambda (text) (string-contains? text "| once | 0 | 1 |")) _))
