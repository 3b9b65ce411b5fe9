; A week of sales beside the week before: a Markdown table, and what a model says of it.

(define-type Sale {day: string product: string amount: number})

(define-input sales type: file default: "sales.csv" doc: "CSV: date as 31.12.2026, product, amount")
(define-input until default: "" doc: "the last day as 2026-12-31; today if it is empty")

(import "comment.xml")

(define (read-sale row)
  (as Sale
    {day: (iso-date (parse-date row.date "%d.%m.%Y"))
     product: row.product
     amount: (string->number (string-replace row.amount "," ""))}))

(define all (map read-sale (csv-parse (read-file sales))))
(define last-day (if (string-blank? until) (today) until))

(define (sold from to)
  (filter (lambda (sale) (string<=? from sale.day to)) all))
(define (total sales) (sum (map (lambda (sale) sale.amount) sales)))
(define (totals sales)
  (map-values total (from-entries (group-by (lambda (sale) sale.product) sales))))

(define week (totals (sold (date-add last-day -6) last-day)))
(define week-before (totals (sold (date-add last-day -13) (date-add last-day -7))))

(define (line product now before)
  {Product: product "This week": (format "~,2:f" now) "Week before": (format "~,2:f" before)})
(define table
  (markdown-table (append (map (lambda ([product amount])
                                 (line product amount (get week-before product 0)))
                               (sort-by second (entries week) >))
                          [(line "All" (sum (values week)) (sum (values week-before)))])))

(str "# Sales until " (format-date last-day "%A, %B %e, %Y") "\n\n" table "\n" (comment table))
