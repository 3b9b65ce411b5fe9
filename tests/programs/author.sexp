; A model writes a function until its tests pass and another model has nothing against it.

(define-input goal default: "a function `slug(title)` in Python")
(define-input turns type: integer default: 4)

(defatom write
  (params (goal string) (feedback string default: ""))
  (instructions "Write {{goal}}, nothing but the code. What was wrong so far: {{feedback}}")
  (model "author"))

(defatom review
  (params (goal string) (code string))
  (instructions "Is this {{goal}} as you would have it? {{code}}")
  (returns {approved: boolean remark: string})
  (model "reviewer"))

(iterative-loop
  max_iterations: turns
  initial: ""
  test_command: ["python3" "-B" "test_slug.py"]
  executor: (lambda (feedback i)
              (bind code (write goal feedback))
              (write-file "slug.py" code)
              code)
  controller: (lambda (code test feedback i)
                (if (= test.exit_code 0)
                    (match (review goal code)
                      ({approved: true} ['stop code])
                      ({remark: remark} ['continue remark]))
                    ['continue test.stderr])))
