; What the model's answer looks like. A reply that does not fit is asked for again.

(define-type Sorting {kind: (one-of "praise" "complaint" "question") urgent: boolean})
