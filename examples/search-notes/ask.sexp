; A question in, an answer out, from the notes of a folder that mean nearly the same.

(import std/vectors)
(import "answer-from-notes.xml")

(define-input question doc: "what you want to know")
(define-input count type: integer default: 2 doc: "how many notes are read")
(define-input folder default: "notes" doc: "where the notes are, from here")

(define paths (list-files (str folder "/*.txt")))
(define notes (map (lambda (path) (string-trim (read-file path))) paths))
(define hits (nearest count (embed question model: "finder") (embed notes model: "finder")))

(print "read:" (string-join (map (lambda ([place _]) (nth paths place)) hits) ", "))
(answer-from-notes question (map (lambda ([place _]) (nth notes place)) hits))
