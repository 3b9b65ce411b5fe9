; Write a function and run its tests; then again with what they say, until they pass or the turns
; are used up.

(import "write.xml")

(define-input turns type: integer default: 3 doc: "how often to try")

; Models like to put code into a fence.
(define (code-in text)
  (match (string-split text "```")
    ([_ fenced . _] (string-join (rest (string-split fenced "\n")) "\n"))
    (_ (str text "\n"))))

(define result
  (director-evaluator-loop
    max_iterations: turns
    initial: "nothing yet"
    director: (lambda (feedback i) (code-in (write feedback)))
    executor: (lambda (code i) (write-file "slug.py" code))
    evaluator: (lambda (execution code i)
                 (system:run_script "python3" args: ["-B" "test_slug.py"] timeout: 20))
    controller: (lambda (evaluation code execution i)
                  (log "info" (format "turn ~a: ~a" i (string-trim evaluation.notes.feedback)))
                  (if evaluation.notes.success
                      ['stop code]
                      ['continue evaluation.notes.feedback]))
    report: true))

(if result.success
    (format "slug.py passes its tests in turn ~a." result.iterations_completed)
    "slug.py does not pass its tests.")
