; The n-th Fibonacci number, doubly recursive. No effects: what the stack of calls costs.

(define-input n type: integer default: 20 doc: "Which number.")

(define (fib n) (if (< n 2) 1 (+ (fib (- n 1)) (fib (- n 2)))))

(fib n)
