; Lists by a function: what is found, counted, divided. Chapter 7 has examples.

; The first item for which `p` holds, or nil.
(define (find p xs)
  (_check "(find p xs)" p xs)
  (loop ((left xs))
    (cond ((empty? left) nil)
          ((p (first left)) (first left))
          (else (recur (rest left))))))

; The index of the first item for which `p` holds, or nil.
(define (find-index p xs)
  (_check "(find-index p xs)" p xs)
  (loop ((left xs) (i 0))
    (cond ((empty? left) nil)
          ((p (first left)) i)
          (else (recur (rest left) (+ i 1))))))

; How many items there are for which `p` holds.
(define (count p xs)
  (_check "(count p xs)" p xs)
  (length (filter p xs)))

; The lists that `f` gives for each item, joined.
(define (flat-map f xs)
  (_check "(flat-map f xs)" f xs)
  (apply append (map f xs)))

; What `f` gives for each item, without nil and false. `(filter-map identity xs)` removes nil from a list.
(define (filter-map f xs)
  (_check "(filter-map f xs)" f xs)
  (filter identity (map f xs)))

; What `(f index item)` gives for each item, from index 0.
(define (map-indexed f xs)
  (_check "(map-indexed f xs)" f xs)
  (map f (range (length xs)) xs))

; Two lists: the items for which `p` holds, and the others.
(define (partition p xs)
  (_check "(partition p xs)" p xs)
  (bind pairs (map (lambda (x) [(if (p x) true false) x]) xs))
  [(map second (filter first pairs))
   (map second (filter (lambda (pair) (not (first pair))) pairs))])

; The first items, as long as `p` holds.
(define (take-while p xs) (take xs (_held "(take-while p xs)" p xs)))

; The items from the first on for which `p` does not hold.
(define (drop-while p xs) (drop xs (_held "(drop-while p xs)" p xs)))

(define (_held call p xs)
  (_check call p xs)
  (loop ((left xs) (i 0))
    (if (or (empty? left) (not (p (first left))))
        i
        (recur (rest left) (+ i 1)))))

; The first item for which `f` gives the least number or text; nil of the empty list.
(define (min-by f xs)
  (_check "(min-by f xs)" f xs)
  (get (sort-by f xs) 0))

; The first item for which `f` gives the greatest number or text; nil of the empty list.
(define (max-by f xs)
  (_check "(max-by f xs)" f xs)
  (get (sort-by f xs >) 0))

; `(f x acc)` for each item from the last to the first; gives what the first one gave.
(define (fold-right f init xs)
  (_check "(fold-right f init xs)" f xs)
  (fold (lambda (acc x) (f x acc)) init (reverse xs)))

; A table of the items by the key, a text or symbol, that `f` gives for each; the last one wins.
(define (index-by f xs)
  (_check "(index-by f xs)" f xs)
  (from-entries (map (lambda (x) [(f x) x]) xs)))

(define (_check call f xs)
  (unless (procedure? f) (_refuse call "a function first" f (_meant call f xs)))
  (unless (list? xs) (_refuse call "a list last" xs call)))

; The call for an item, a number or texts where a function stands first, as in other languages.
(define (_meant call f xs)
  (bind name (_name-of call))
  (bind texts? (and (string? f) (string? xs)))
  (bind item (if (list? f) xs f))
  (cond ((or (procedure? xs) (not (or texts? (list? f) (list? xs)))) call)
        ((and (equal? name "partition") (number? f)) "(chunk xs n)")
        ((equal? name "find-index")
         (if texts? "(string-index s part)" "(index-of xs x)"))
        ((equal? name "count")
         (if texts?
             "(string-count s part)"
             (format "(count (lambda (x) (equal? x ~s)) xs)" item)))
        ((equal? name "find")
         (if texts?
             "(string-index s part)"
             (format "(find (lambda (x) (equal? x ~s)) xs)" item)))
        (else call)))

(define (_name-of call) (string-drop (first (string-split call " ")) 1))

(define (_refuse call wanted given meant)
  (raise {type: "PROGRAM_ERROR"
          reason: "wrong-type"
          message: (format "`~a` takes ~a, not ~s" (_name-of call) wanted given)
          hint: (format "write `~a`" meant)}))
