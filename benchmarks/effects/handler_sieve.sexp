; The sum of the primes below n. Each prime that is found adds a handler, which says that its
; multiples are none and asks the handlers further out about the rest.

(define-input n type: integer default: 10 doc: "Where to end.")

(define-effect (prime? number))

(define (sum-of-primes number)
  (cond ((>= number n) 0)
        ((prime? number)
         (+ number
            (handle (sum-of-primes (+ number 1))
              ((prime? other) resume
                (if (= (modulo other number) 0)
                    (resume false)
                    (forward resume prime? other))))))
        (else (sum-of-primes (+ number 1)))))

(handle (sum-of-primes 2)
  ((prime? _) resume (resume true)))
