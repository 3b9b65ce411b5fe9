; The greatest result over all paths through a binary tree of height n, ten times. A choice resumes
; twice; the state around all of it is seen by every future.

(define-input n type: integer default: 5 doc: "The height of the tree.")

(define-effect (choose))
(define-effect (get-number))
(define-effect (put-number value))

(define (make-tree height)
  (if (= height 0)
      nil
      (let ((tree (make-tree (- height 1))))
        {left: tree value: height right: tree})))

(define (combine x y) (modulo (abs (+ (- x (* 503 y)) 37)) 1009))

(define (explore tree)
  (if (nil? tree)
      (get-number)
      (let ((next (if (choose) (get tree "left") (get tree "right")))
            (value (get tree "value")))
        (put-number (combine (get-number) value))
        (combine value (explore next)))))

(define (paths tree)
  (handle (explore tree)
    ((choose) resume (append (resume true) (resume false)))
    (return value [value])))

(define (repeat tree times)
  (if (= times 0)
      (get-number)
      (begin
        (put-number (apply max (paths tree)))
        (repeat tree (- times 1)))))

((handle (repeat (make-tree n) 10)
   ((get-number) resume (lambda (number) ((resume number) number)))
   ((put-number value) resume (lambda (number) ((resume nil) value)))
   (return value (lambda (number) value)))
 0)
