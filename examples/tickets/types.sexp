; What goes in and what comes out.

(define-type Ticket {id: string text: string})
(define-type Verdict {kind: (one-of "bug" "idea" "billing" "question") urgent: boolean why: string})
