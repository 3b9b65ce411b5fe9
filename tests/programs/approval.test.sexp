(test "a remark, then yes"
  file: "approval.sexp"
  inputs: {order: "3 kettles"}
  script: [[(model {task: "draft"}) "Dear customer"]
           [(ask-user "Send this?\nDear customer" ["yes" "no" "change"]) "change"]
           [(ask-user "What has to change?") "Say when."]
           [(model {task: "draft"}) "Dear customer, on Monday"]
           [(ask-user "Send this?\nDear customer, on Monday") "yes"]
           [(send-letter "Dear customer, on Monday") nil]]
  expect: "sent")

(test "no"
  file: "approval.sexp"
  inputs: {order: "3 kettles"}
  script: [{reply: "Dear customer"} [(ask-user) "no"]]
  expect: "dropped")
