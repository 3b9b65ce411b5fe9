; All falling triples of numbers up to n whose sum is n, as the sum of their hashes. Each number is
; chosen by a flip that is answered both ways.

(define-input n type: integer default: 10 doc: "The greatest number, and the sum.")

(define-effect (flip))
(define-effect (fail))

(define prime 1000000007)

(define (choice most)
  (cond ((< most 1) (fail))
        ((flip) most)
        (else (choice (- most 1)))))

(define (hash-of a b c) (modulo (+ (* 53 a) (* 2809 b) (* 148877 c)) prime))

(define (triple most sum)
  (let* ((a (choice most))
         (b (choice (- a 1)))
         (c (choice (- b 1))))
    (if (= (+ a b c) sum) (hash-of a b c) (fail))))

(handle (triple n n)
  ((flip) resume (modulo (+ (resume true) (resume false)) prime))
  ((fail) _ 0))
