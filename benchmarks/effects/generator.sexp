; The sum of a binary tree of height n by a generator: a walk of the tree that stops at each value,
; and goes on when the next one is wanted. The continuation leaves its handler as a value.

(define-input n type: integer default: 8 doc: "The height of the tree.")

(define-effect (yield value))

(define (make-tree height)
  (if (= height 0)
      nil
      (let ((tree (make-tree (- height 1))))
        {left: tree value: height right: tree})))

(define (walk tree)
  (when tree
    (walk (get tree "left"))
    (yield (get tree "value"))
    (walk (get tree "right"))))

(define (generate tree)
  (handle (walk tree)
    ((yield value) resume {value: value next: resume})
    (return _ nil)))

(loop ((step (generate (make-tree n))) (sum 0))
  (if step (recur ((get step "next")) (+ sum (get step "value"))) sum))
