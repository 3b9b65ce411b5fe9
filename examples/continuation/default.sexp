; A task asks for subtasks while it works, and nobody handles them: they are simply run.

(import "report.xml")
(import "look-up.xml")

(define-input topic default: "tea")

(report topic)
