; The same choice without a word of a model: a letter goes to the desk of the known letter that means
; nearly the same.

(import std/vectors)

(define-input letters type: file default: "letters.txt" doc: "a letter a line")
(define-input known type: file default: "known.csv" doc: "CSV: desk, letter")

(define rows (csv-parse (read-file known)))
(define vectors (embed (map (lambda (row) row.letter) rows)))

(define (line letter vector)
  (bind [[place _]] (nearest 1 vector vectors))
  (bind row (nth rows place))
  (str row.desk ": " letter))

(define texts (string-lines (read-file letters)))
(string-join (map line texts (embed texts)) "\n")
