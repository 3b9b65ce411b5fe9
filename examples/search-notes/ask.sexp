; A question in, an answer out, from the notes that mean nearly the same.

(import std/vectors)
(import "answer-from-notes.xml")

(define-input question doc: "what you want to know")
(define-input count type: integer default: 2 doc: "how many notes are read")

(define notes (string-lines (read-file "notes.txt")))
(define hits (nearest count (embed question model: "finder") (embed notes model: "finder")))
(define found (map (lambda (hit) (nth notes (first hit))) hits))
(print "read:" found)
(answer-from-notes question found)
