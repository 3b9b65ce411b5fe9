; Tickets from a CSV file: a model sorts each of them. Out come a CSV file and a Markdown table.

(import "classify.xml")
(import "types.sexp")

(define-input tickets type: file default: "tickets.csv" doc: "CSV with the columns id and text")
(define-input out default: "triage.csv" doc: "the CSV file to write")

; A ticket that no reply fits is a row of its own, and the others go on.
(define (triage ticket)
  (try (merge {id: ticket.id} (classify ticket.text))
    (catch (err output_format_failure) {id: ticket.id kind: "failed" why: err.message})))

(define rows (par-map triage (as [Ticket] (csv-parse (read-file tickets))) limit: 4))
(write-file out (csv-string rows ["id" "kind" "urgent" "why"]))
(markdown-table rows ["id" "kind" "urgent" "why"])
