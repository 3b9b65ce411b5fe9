; A CSV file that people have typed: rules clean what rules can, a model is asked for the rest, each
; word once, and a row that does not become what it should be is set aside with the reason.

(define-input table type: file default: "customers.csv" doc: "CSV: name, country, since, spent")

(define-type Country (one-of "France" "Germany" "United Kingdom"))
(define-type Customer {name: string country: Country since: string spent: number})

(define countries ["France" "Germany" "United Kingdom"])
(define formats ["%Y-%m-%d" "%d.%m.%Y" "%B %d, %Y"])

(defatom country-of
  (params (words string))
  (instructions "In which country is {{words}}?")
  (returns {sentence: string country: (or Country nil)})
  (limits max_output_tokens: 100))

(define (country words)
  "The country that words mean; the words themselves where nobody knows."
  (if (member? words countries)
      words
      (match (attempt (country-of words))
        ({country: (? string? found)} found)
        (_ words))))

(define (day text)
  "A day in any of the formats as 2026-12-31; the text itself where none fits."
  (bind found (filter-map (lambda (format) (attempt (parse-date text format) nil)) formats))
  (if (empty? found) text (iso-date (first found))))

(define (name text)
  (string-join (map string-capitalize (re-split "\\s+" (string-downcase (string-trim text)))) " "))

(define (amount text) (or (string->number (re-replace "[^0-9.]" text "")) text))

(define rows (csv-parse (read-file table)))
(define words (distinct (map (lambda (row) row.country) rows)))
(define meant (zipmap words (par-map country words limit: 4)))

(define (customer row)
  (bind since (day row.since))
  (unless (date? since) (error "since: no day"))
  (as Customer
    {name: (name row.name)
     country: (get meant row.country)
     since: since
     spent: (amount row.spent)}))

(define (cleaned row)
  "The customer of a row, or the row with the reason why it is none."
  (bind result (attempt (customer row)))
  (if (failed? result)
      {aside: (put row "why" result.notes.error.message)}
      {clean: result}))

(define all (map cleaned rows))
(define clean (filter-map (lambda (each) each.clean) all))
(define aside (filter-map (lambda (each) each.aside) all))

(write-file "clean.csv" (csv-string clean))
(write-file "aside.csv" (csv-string aside))
(format "~a of ~a rows are clean.~%~%~a" (length clean) (length rows) (markdown-table aside))
