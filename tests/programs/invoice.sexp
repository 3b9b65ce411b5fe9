; An invoice into a table. What a type cannot say, that the lines add up, is checked here, and the
; model is told in the same conversation.

(define-type Line {item: string amount: number})
(define-type Invoice
  {number: string date: (schema {type: string format: date}) lines: [Line] total: number})

(define-input invoice type: file)

(defatom extract
  (params (text string))
  (instructions "Read this invoice: {{text}}")
  (returns Invoice))

(define (complaint read)
  (bind lines (round (sum (map (lambda (line) line.amount) read.lines)) 2))
  (unless (= lines read.total)
    (format "The lines add up to ~,2f and the total is ~,2f. Read them again." lines read.total)))

(define (checked result tries)
  (bind wrong (complaint (answer result)))
  (cond ((nil? wrong) (answer result))
        ((= tries 0) (error wrong))
        (else (checked (continue result wrong) (- tries 1)))))

(checked (call-task extract (read-file invoice)) 2)
