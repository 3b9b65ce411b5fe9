(import "report.xml")
(import "look-up.xml")

(test "nobody handles the subtasks: all are run"
  file: "default.sexp"
  replies: "replies.json"
  expect: "Three billion cups of tea are drunk in a day. The blend holds bergamot.")

(test "a handler answers for the secret, and hands the other subtask on"
  file: "guarded.sexp"
  replies: "replies.json"
  expect: "Three billion cups of tea are drunk in a day. What is in the blend stays a secret."
  requests: [(model {task: "report"}) (log "info" _) (model {task: "look-up"})
             (model {task: "report"}) (log) (model {task: "report"})])

(test "a handler that does not resume ends the task"
  (handle (report "tea")
    ((subtask request) resume (str "wanted: " request.description)))
  replies: "replies.json"
  expect: "wanted: look up how many cups are drunk")
