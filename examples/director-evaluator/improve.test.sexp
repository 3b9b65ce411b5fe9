(define failed
  {exit_code: 1 stdout: "" stderr: "gives 'bread,-from-7!', not 'bread-from-7'\n" truncated: false})
(define passed {exit_code: 0 stdout: "all is well\n" stderr: "" truncated: false})

(test "what the tests say goes back to the director"
  file: "improve.sexp"
  replies: "replies.json"
  files: {}
  script: [[(run-script "python3" ["-B" "test_slug.py"] _ 20) failed] [(run-script) passed]]
  expect: "slug.py passes its tests in turn 2."
  requests: [(model {task: "write"})
             (write-file "slug.py"
                         "def slug(title):\n    return title.lower().replace(\" \", \"-\")\n")
             (run-script)
             (model {task: "write"})
             (write-file "slug.py")
             (run-script)])

(test "the turns are used up"
  file: "improve.sexp"
  inputs: {turns: 1}
  replies: "replies.json"
  files: {}
  script: [[(run-script) failed]]
  expect: "slug.py does not pass its tests.")

(test "a file that may not be written ends it at once"
  file: "improve.sexp"
  replies: "replies.json"
  script: [[(write-file) (raise {reason: "path-denied" message: "slug.py may not be written"})]]
  error: ["path-denied" "executor phase (iteration 1)"])

(test "so does a test that cannot be run"
  file: "improve.sexp"
  replies: "replies.json"
  files: {}
  script: [[(run-script) (raise {reason: "run-denied" message: "`python3` may not be run here"})]]
  error: ["run-denied" "evaluator phase (iteration 1)"])

(test "a test that takes too long is told to the director"
  file: "improve.sexp"
  replies: "replies.json"
  files: {}
  inputs: {turns: 2}
  script: [[(run-script)
            (raise {type: "TASK_FAILURE"
                    reason: "execution_timeout"
                    message: "`python3` was ended: it takes longer than 20 seconds"
                    details: {code: "script-timeout" limit: 20}})]
           [(run-script) passed]]
  expect: "slug.py passes its tests in turn 2."
  requests: [(model {task: "write"}) (write-file "slug.py") (run-script) (model {task: "write"})
             (write-file "slug.py") (run-script)])
