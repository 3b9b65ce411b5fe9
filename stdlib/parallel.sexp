; A map whose calls are branches: as wide as `limit:`, or all at once.

; Calls `f` with each element of a list, side by side, `limit:` at a time or all at once; the results
; in the order of the list. One that fails cancels the others.
(define (par-map f xs (limit nil)) (fork-map f xs limit))
