; A folder of documents in, a table with a row for each of them out.

(import "sort-document.xml")
(import "summarize.xml")

(define-input folder default: "documents" doc: "where the documents are, from here")

; The two tasks know nothing of each other, so they may run at the same time. A document that no
; reply fits is a row too, and the others go on.
(define (row-for path)
  (bind document (read-file path))
  (bind found
    (try (par (sort-document document) (summarize document))
      (catch (err output_format_failure) ["failed" err.message])))
  {document: (last (string-split path "/")) kind: (first found) summary: (last found)})

(define rows (par-map row-for (list-files (str folder "/*.txt")) limit: 4))
(markdown-table rows ["document" "kind" "summary"])
