; Documents of a folder into one summary: each alone, then three at a time until one is left.

(define-input folder default: "documents")

(defatom summarize
  (params (text string))
  (instructions "Summarize in two sentences: {{text}}"))

(defatom combine
  (params (parts list))
  (instructions "Make one summary of two sentences of these: {{parts}}"))

(define (reduce-all parts)
  (if (empty? (rest parts))
      (first parts)
      (reduce-all (par-map combine (chunk parts 3)))))

(define paths (list-files (str folder "/*.txt")))
(if (empty? paths)
    "no documents"
    (reduce-all (par-map (lambda (path) (summarize (read-file path))) paths)))
