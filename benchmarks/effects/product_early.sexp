; The product of a list that ends in a 0, left early where the 0 is met.

(define-input n type: integer default: 10 doc: "How many times.")

(define-effect (stop value))

(define numbers (reverse (range 1001)))

(define (product at)
  (let ((number (nth numbers at)))
    (if (= number 0) (stop 0) (* number (product (+ at 1))))))

(define (product-early) (handle (product 0) ((stop value) _ value)))

(loop ((times n) (sum 0))
  (if (= times 0) sum (recur (- times 1) (+ sum (product-early)))))
