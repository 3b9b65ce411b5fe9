; Emits the numbers up to n; the handler adds them up.

(define-input n type: integer default: 1000 doc: "The last number.")

(define-effect (emit number))

(define (emit-range from to)
  (when (<= from to) (emit from) (emit-range (+ from 1) to)))

((handle (emit-range 0 n)
   ((emit number) resume (lambda (sum) ((resume nil) (+ sum number))))
   (return _ (lambda (sum) sum)))
 0)
