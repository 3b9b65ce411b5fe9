; A program that a model wrote, checked and run with the rights that it is given.

; Checks and runs the text of a program. It sees the names of every program and its `inputs:`, may
; do what `allow:` lists and its caller may do: operations, `(model "fast")`, `(tool "search")`,
; `(task "dig")`. It has what `budget:` gives, by default as much as its caller. Gives `{status: "done" value}`,
; `{status: "refused" diagnostics}` or `{status: "failed" error}`.
(define (eval-plan text (inputs {}) (allow []) (budget {}))
  (run-plan text inputs allow budget))
