; What the answer of a task looks like. A reply that does not fit is asked for again.

(define-type Kind (one-of "request" "invoice" "invitation" "other"))
