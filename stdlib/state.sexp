; State that is passed along behind the program's back: nothing is ever changed.
;
; `(with-state initial f)` calls `f`, a function without parameters, and gives its value.
; Inside, `(get-state)` gives the state, `(put-state value)` replaces it for what comes after, and
; `(update-state f)` puts what `f` makes of it.
;
; `(with-cells {name: initial …} f)` does the same for any number of named cells, read by
; `(get-cell 'name)` and replaced by `(put-cell 'name value)`; a cell that the nearest `with-cells`
; does not have is looked for further out. The state is the cell called `state`.
;
; `run-state` and `run-cells` give the last state along with the value. Chapter 10 has examples.

(define-effect (get-cell name) "The value of a cell.")
(define-effect (put-cell name value) "Another value for a cell, from here on.")

; Puts what a function makes of a cell's value into the cell.
(define (update-cell name f) (put-cell name (f (get-cell name))))

; Gives `f`, a function without parameters, several named variables, the cells; returns
; `{value cells}`, the value of `f` and the last value of each cell.
(define (run-cells cells f)
  (unless (table? cells)
    (raise {type: "PROGRAM_ERROR"
            reason: "wrong-type"
            message: (format "the cells are a table of their names and values, not ~s" cells)
            hint: "write (with-cells {count: 0} (lambda () …))"}))
  ; A put ends the step that it is made in; the next step begins there, with other cells. So a get
  ; is answered where it is made, also in the branches of a `par`, and no put takes any stack.
  (define (begin-body)
    (handle (f)
      ((put-cell name value) resume
        (if (has-key? cells name)
            {name: name next: value resume: resume}
            (forward resume put-cell name value)))
      (return value {value: value})))
  (loop ((now cells) (step begin-body))
    (match (handle (step)
             ((get-cell name) resume
               (if (has-key? now name)
                   (resume (get now name))
                   (forward resume get-cell name))))
      ({resume: resume name: name next: next}
       (recur (put now name next) (lambda () (resume nil))))
      ({value: value} {value: value cells: now}))))

; Gives `f`, a function without parameters, several named variables, the cells; returns its value.
(define (with-cells cells f) (get (run-cells cells f) "value"))

; The state of the nearest `with-state` or `run-state`.
(define (get-state) (get-cell "state"))

; Another state, from here on.
(define (put-state value) (put-cell "state" value))

; Puts what a function makes of the state in its place.
(define (update-state f) (update-cell "state" f))

; Gives `f`, a function without parameters, a variable, the state; returns `{value state}`, the
; value of `f` and the last state.
(define (run-state initial f)
  (match (run-cells {state: initial} f)
    ({value: value cells: {state: state}} {value: value state: state})))

; Gives `f`, a function without parameters, a variable, the state; returns its value.
(define (with-state initial f) (get (run-state initial f) "value"))
