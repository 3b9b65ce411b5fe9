; A folder of letters in, a table out: each letter is an invoice, a reminder or something else, and each
; kind has fields of its own. An invoice that does not add up is read again, and then left to a person.

(define-input folder default: "letters" doc: "where the letters are, from here")

(define-type Line {item: string pieces: integer price: number})
(define-type Invoice
  {kind: (one-of "invoice") from: string number: string day: string lines: [Line] total: number})
(define-type Reminder {kind: (one-of "reminder") from: string number: string})
(define-type Other {kind: (one-of "other") about: string})

(defatom read-letter
  (params (letter string))
  (instructions """
    Read this letter. Give what stands in it, days as 2026-12-31, amounts as they are written.

    {{letter}}
    """)
  (returns (or Invoice Reminder Other))
  (validate _flaw))

(define (_flaw letter)
  (match letter
    ({day: (? (lambda (day) (not (date? day))) day)}
     (format "~a is no day: write 2026-12-31." day))
    ({lines: lines total: total}
     (bind added (sum (map (lambda (line) (* line.pieces line.price)) lines)))
     (when (> (abs (- added total)) 0.005)
       (format "The lines add up to ~,2f, and the total is ~,2f. Read the lines again."
               added
               total)))
    (_ nil)))

(define (row path is of (number "") (total ""))
  {letter: path is: is of: of number: number total: total})

(define (row-of path)
  "The row of a letter: what it is, or why it could not be read."
  (match (attempt (read-letter (read-file path)))
    ({kind: "invoice" from: from number: number total: total}
     (row path "invoice" from number (format "~,2f" total)))
    ({kind: "reminder" from: from number: number} (row path "reminder" from number))
    ({kind: "other" about: about} (row path "other" about))
    ({notes: {error: err}} (row path "to look at" err.message))))

(with-budget {calls: 100}
  (markdown-table (par-map row-of (list-files (str folder "/*.txt")) limit: 4)))
