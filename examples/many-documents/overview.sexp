; A folder of documents in, a line for each of them out.

(import "summarize.xml")
(import "place.xml")

(define-input folder default: "documents" doc: "where the documents are, from here")

; The two tasks know nothing of each other, so they may run at the same time.
(define (line-for path)
  (bind document (read-file path))
  (bind found (par (place document) (summarize document)))
  (format "~a: ~a" (first found) (nth found 1)))

(string-join (map line-for (list-files (str folder "/*.txt"))) "\n")
