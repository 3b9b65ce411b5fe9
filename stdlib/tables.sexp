; Tables by a function. Chapter 7 has examples.

; The table with what `f` gives for each value.
(define (map-values f t)
  (_check "(map-values f t)" f t)
  (zipmap (keys t) (map f (values t))))

; The table with the keys that `f` gives; of equal ones the last wins.
(define (map-keys f t)
  (_check "(map-keys f t)" f t)
  (zipmap (map f (keys t)) (values t)))

; The fields for which `(p key value)` holds.
(define (filter-table p t)
  (_check "(filter-table p t)" p t)
  (from-entries (filter (lambda (entry) (p (first entry) (second entry))) (entries t))))

; The table with what `f` gives for the value at a path of keys; for nil where there is none.
(define (update-in t path f)
  (unless (procedure? f) (_refuse "(update-in t path f)" "a function last" f))
  (put-in t path (f (get-in t path))))

; The tables as one: `(f a b)` gives the value of a key that two of them have.
(define (merge-with f . tables)
  (unless (procedure? f) (_refuse "(merge-with f t …)" "a function first" f))
  (fold (lambda (so-far t)
          (fold (lambda (made key)
                  (bind value (get t key))
                  (put made key (if (has-key? made key) (f (get made key) value) value)))
                so-far
                (keys t)))
        {}
        tables))

(define (_check call f t)
  (unless (procedure? f) (_refuse call "a function first" f))
  (unless (table? t) (_refuse call "a table last" t)))

(define (_refuse call wanted given)
  (raise {type: "PROGRAM_ERROR"
          reason: "wrong-type"
          message: (format "`~a` takes ~a, not ~s"
                           (string-drop (first (string-split call " ")) 1)
                           wanted
                           given)
          hint: (format "write `~a`" call)}))
