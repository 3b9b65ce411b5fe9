; How many ways there are to place n queens on a board of n × n: every choice is tried by resuming
; once for each cell of a column.

(define-input n type: integer default: 5 doc: "The size of the board.")

(define-effect (pick size))
(define-effect (fail))

(define (safe? queen distance queens)
  (or (null? queens)
      (let ((other (first queens)))
        (and (!= queen other)
             (!= queen (+ other distance))
             (!= queen (- other distance))
             (safe? queen (+ distance 1) (rest queens))))))

(define (place size column)
  (if (= column 0)
      ()
      (let* ((queens (place size (- column 1))) (queen (pick size)))
        (if (safe? queen 1 queens) (cons queen queens) (fail)))))

(handle (place n n)
  ((pick size) resume
    (loop ((cell 1) (count 0))
      (if (> cell size) count (recur (+ cell 1) (+ count (resume cell))))))
  ((fail) _ 0)
  (return _ 1))
