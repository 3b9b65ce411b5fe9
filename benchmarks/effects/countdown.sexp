; Counts down by an effect that reads a number and one that writes it.

(define-input n type: integer default: 1000 doc: "The number to begin with.")

(define-effect (get-number))
(define-effect (put-number value))

(define (count-down)
  (let ((number (get-number)))
    (if (= number 0)
        number
        (begin (put-number (- number 1)) (count-down)))))

((handle (count-down)
   ((get-number) resume (lambda (number) ((resume number) number)))
   ((put-number value) resume (lambda (number) ((resume nil) value)))
   (return value (lambda (number) value)))
 n)
