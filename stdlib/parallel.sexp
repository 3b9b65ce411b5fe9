; A map whose calls are branches: as wide as `limit:`, or all at once.

(define (par-map f xs (limit nil)) (fork-map f xs limit))
