; The best of several slogans, and two prompts compared on the products of a table.

(import std/evaluate)

(define-input table type: file default: "products.csv")

(defatom write-slogan
  (params (product string) (feedback any default: "none"))
  (instructions "A slogan for {{product}}. What was wrong so far: {{feedback}}"))

(defatom rate
  (params (product string) (slogan string))
  (instructions "How good is this slogan for {{product}}, from 0 to 10? {{slogan}}")
  (returns number))

(define (once product) (write-slogan product))

(define (best product)
  (best-of (lambda () (write-slogan product)) (lambda (slogan) (rate product slogan)) n: 3))

(define (patient product)
  (refine (lambda (feedback) (write-slogan product (or feedback "none")))
    (lambda (slogan) (when (> (string-length slogan) 20) "It is too long."))))

(define rows (csv-parse (read-file table)))

(define (report name f)
  (bind found
    (evaluate (lambda (row) (f row.product)) rows (lambda (slogan row) (rate row.product slogan))))
  {way: name score: found.score failed: found.failed})

(markdown-table [(report "once" once) (report "best of 3" best) (report "refined" patient)])
