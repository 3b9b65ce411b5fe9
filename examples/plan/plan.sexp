; A task takes itself apart while it works: its model proposes a plan of subtasks, others do them,
; and one of those proposes a plan of its own.

(import "organise.xml")
(import "arrange.xml")
(import "find-out.xml")
(import std/plan-tree)

(define-input event default: "a street party")

(define invitation (call-task organise event))

(string-join [(str invitation) "" (subplan-tree invitation)] "\n")
