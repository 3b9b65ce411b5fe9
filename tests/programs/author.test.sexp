(define failed {exit_code: 1 stdout: "" stderr: "slug('a b') is wrong" truncated: false})
(define passed {exit_code: 0 stdout: "" stderr: "" truncated: false})

(test "what the tests and the reviewer say goes back to the author"
  file: "author.sexp"
  files: {}
  script: [[(model {task: "write" model: "author"}) "code 1"]
           [(run-script "python3" ["-B" "test_slug.py"]) failed]
           [(model {task: "write"}) "code 2"]
           [(run-script) passed]
           [(model {task: "review" model: "reviewer"})
            "{\"approved\": false, \"remark\": \"Name it well.\"}"]
           [(model {task: "write"}) "code 3"]
           [(run-script) passed]
           [(model {task: "review"}) "{\"approved\": true, \"remark\": \"\"}"]]
  expect: "code 3")

(test "a file that may not be written ends it after one call"
  file: "author.sexp"
  script: [[(model {task: "write"}) "code"]
           [(write-file) (raise {reason: "path-denied" message: "slug.py may not be written"})]]
  error: "path-denied")
