; Plan, write, judge; then again with what was wrong, until it is good or the turns are used up.

(import "plan.xml")
(import "write.xml")
(import "judge.xml")

(define-input goal default: "a door sign for a bakery that opens at seven")
(define-input turns type: integer default: 3)

(loop ((turn 1) (feedback ""))
  (bind draft (write (plan goal feedback)))
  (bind verdict (judge goal draft))
  (log "info" (format "turn ~a: ~a" turn draft))
  (if (or verdict.parsed_content.success (>= turn turns))
      draft
      (recur (+ turn 1) verdict.parsed_content.feedback)))
