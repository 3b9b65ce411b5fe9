; Judging what a program gives: a data set with scores, the best of several, drafts with feedback.
;
; A score is a number, or true and false, which are 1 and 0. Chapter 10 has examples.

; Scores `f` on the rows of a data set: calls `(f row)`, then `(score value row)` for its value, `limit`
; rows at a time. Gives `{score count failed rows}`: the mean of the scores, and for each row `{row value
; score error}`. A row that fails has the score 0 and the message of its error.
(define (evaluate f rows score (limit 8))
  (_check-calls limit)
  (bind results (par-map (lambda (row) (_result f row score)) rows limit: limit))
  {score: (if (empty? results)
              nil
              (mean (map (lambda (each) each.score) results)))
   count: (length results)
   failed: (count (lambda (each) each.error) results)
   rows: results})

(define (_result f row score)
  (bind found
    (attempt (begin
               (bind value (f row))
               {value: value score: (_number (score value row))})))
  (bind error (when (failed? found) found.notes.error))
  (when (member? error.reason ["wrong-arity" "not-a-function"]) (raise error))  ; of the program
  (if error
      {row: row value: nil score: 0 error: error.message}
      {row: row value: found.value score: found.score error: nil}))

; A score: whether the value is that of a column.
(define (same-as column) (lambda (value row) (equal? value (get row column))))

; The rows of a report, for `markdown-table` and `csv-string`: the columns of the data set and
; `value`, `score` and `error`, which replace columns of these names.
(define (result-rows report)
  (map (lambda (each)
         (bind columns (if (table? each.row) each.row {row: each.row}))
         (merge columns
           {value: (if (or (table? each.value) (list? each.value))
                       (json-string each.value)
                       each.value)
            score: each.score
            error: each.error}))
       report.rows))

; The best of `n` calls of `f`, a function without parameters, made side by side: the value with the
; greatest `(score value)`, of equal ones the first. What fails does not count; where all fail, the
; first error is raised.
(define (best-of f score (n 3))
  (_check-calls n)
  (bind found (par-map (lambda (_) (attempt (begin (bind value (f)) {value: value}))) (range n)))
  (bind good (filter (lambda (each) (not (failed? each))) found))
  (when (empty? good) (raise (get-in (first found) ["notes" "error"])))
  (bind scored (par-map (lambda (each) (put each "score" (_number (score each.value)))) good))
  (get (max-by (lambda (each) each.score) scored) "value"))

; Writes again until a judge is content: calls `(f feedback)` for a draft, with nil at first, until
; `(judge draft)` gives nil, `times` times at most; else that is the next feedback. Gives the last draft.
(define (refine f judge (times 3))
  (_check-calls times)
  (loop ((turn 1) (feedback nil))
    (bind draft (f feedback))
    (bind complaint (judge draft))
    (if (or (nil? complaint) (>= turn times))
        draft
        (recur (+ turn 1) complaint))))

(define (_number score)
  (cond ((number? score) score)
        ((boolean? score) (if score 1 0))
        (else (_refuse (format "a score is a number, true or false, not ~s" score)))))

(define (_check-calls n)
  (unless (and (integer? n) (> n 0))
    (_refuse (format "how often is an integer from 1 on, not ~s" n))))

(define (_refuse message)
  (raise {type: "PROGRAM_ERROR" reason: "wrong-type" message: message}))
