; Reads n lines, of which line i holds i dollars, and adds up the dollars. One handler is the file,
; one the end of it, one the sum.

(define-input n type: integer default: 10 doc: "How many lines.")

(define-effect (read-character))
(define-effect (emit count))
(define-effect (stop))

(define newline 10)
(define dollar 36)

(define (parse count)
  (let ((character (read-character)))
    (cond ((= character dollar) (parse (+ count 1)))
          ((= character newline) (emit count) (parse 0))
          (else (stop)))))

(define (feed lines body)
  ((handle (body)
     ((read-character) resume
       (lambda (line left)
         (cond ((> line lines) (stop))
               ((= left 0) ((resume newline) (+ line 1) (+ line 1)))
               (else ((resume dollar) line (- left 1))))))
     (return _ (lambda (line left) nil)))
   0
   0))

(define (until-stopped body) (handle (body) ((stop) _ nil)))

(define (sum-of body)
  ((handle (body)
     ((emit count) resume (lambda (sum) ((resume nil) (+ sum count))))
     (return _ (lambda (sum) sum)))
   0))

(sum-of (lambda () (until-stopped (lambda () (feed n (lambda () (parse 0)))))))
