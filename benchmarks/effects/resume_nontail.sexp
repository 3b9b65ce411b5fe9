; An operation whose handler has work left after resuming: the stack of resumptions grows with n.

(define-input n type: integer default: 5 doc: "How deep.")
(define-input times type: integer default: 1000 doc: "How many times.")

(define-effect (operator x))

(define (walk left initial)
  (if (= left 0)
      initial
      (begin (operator left) (walk (- left 1) initial))))

(define (run initial)
  (handle (walk n initial)
    ((operator x) resume
      (let ((y (resume)))
        (modulo (abs (+ (- x (* 503 y)) 37)) 1009)))))

(loop ((left times) (result 0))
  (if (= left 0) result (recur (- left 1) (run result))))
