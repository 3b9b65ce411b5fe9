; Tasks one after the other, that keep what was done when one of them fails.
;
; An error goes on from where it was raised, so a handler further out may still resume it; its
; details say where it stood and what there is. Indexes are counted from 0. A deadline or a budget
; around it that breaks gives its error to the clause `std:cut-short`, and raises what that gives.

(define _STEPS "write (sequence [plan {id: \"draft\" do: write}] input)")

; What a conversation had been given, by the names that it has in an error's partial results.
(define _GIVEN ["said" "subtasks" "artifacts" "subplans" "unfinished"])

; A pipeline: calls each step with what the one before gave, the first with `input`; gives what the last
; one gave. A step is a function or a task, or `{id do}`. A task is also given all outputs so far, of which
; the latest `history:` are kept. An error says in which step it was and what there is.
(define (sequence steps input (history 20))
  (_check-steps steps history)
  (bind end
    (fold (lambda (so-far step)
            (bind known (_step step))
            (bind result
              (_keeping (lambda (err) (_failed-step err known.id so-far (length steps)))
                (lambda ()
                  (run-step known.do so-far.value {previous_outputs: (_previous so-far)}))))
            (bind value (if (task? known.do) (answer result) result))
            (_with-output so-far value result history))
          {value: input index: 0 omitted: 0 outputs: []}
          steps))
  end.value)

(define (_step step)
  (match step
    ({do: do} {id: (get step "id") do: do})
    (_ {id: nil do: step})))

(define (_failed-step err id so-far total)
  (bind name (if (nil? id) "" (format " (~a)" id)))
  {message: (format "error in step ~a of ~a~a: ~a" (+ so-far.index 1) total name err.message)
   details: {failed_step: so-far.index
             failed_step_id: id
             total_steps: total
             step_error: err
             partial_results: (append (_partial so-far)
                                      (_cut err "step_index" so-far.index "output"))}})

; The task that failed, as the last of what there is: what it had said and been given; nothing where
; it had been given nothing.
(define (_cut err index at said)
  (bind partial err.details.partial_results)
  (bind names
    (if (table? partial)
        (filter (lambda (name) (has-key? partial name)) _GIVEN)
        []))
  (bind given (fold (lambda (notes name) (put notes name (get partial name))) {} names))
  (if (empty? given)
      []
      [(put (put (put {} index at) said err.content) "notes" given)]))

(define (_previous so-far)
  (bind values (map (lambda (each) each.result) so-far.outputs))
  (cond ((= so-far.index 0) nil)
        ((= so-far.omitted 0) values)
        (else (cons (_marker so-far.omitted) values))))

(define (_partial so-far)
  (bind results
    (map (lambda (each)
           {step_index: each.index output: (_output each.result) notes: (_notes each.result)})
         so-far.outputs))
  (if (= so-far.omitted 0)
      results
      (cons {step_index: nil output: (_marker so-far.omitted) notes: {omitted: so-far.omitted}}
            results)))

(define (_marker count)
  (format "[~a earlier output~a left out]" count (if (= count 1) "" "s")))

(define (_output value)
  (match value
    ({status: _ content: content notes: _} content)
    (_ value)))

(define (_notes value)
  (match value
    ({status: _ content: _ notes: notes} notes)
    (_ {})))

; Of the outputs the latest `most` are kept.
(define (_with-output so-far value result most)
  (bind outputs (append so-far.outputs [{index: so-far.index result: result}]))
  (bind surplus (max 0 (- (length outputs) most)))
  {value: value
   index: (+ so-far.index 1)
   omitted: (+ so-far.omitted surplus)
   outputs: (drop outputs surplus)})

(define (_check-steps steps history)
  (unless (and (list? steps) (all? (lambda (step) (procedure? (get (_step step) "do"))) steps))
    (_refuse (format "`sequence` takes a list of functions, not ~s" steps) _STEPS))
  (fold (lambda (known step) (_with-id known (if (table? step) step {}))) [] steps)
  (unless (and (integer? history) (>= history 0))
    (_refuse (format "`sequence` keeps an integer number of outputs as `history:`, not ~s" history)
             "write (sequence steps input history: 20)")))

; The ids that there are: a step has no other fields, and no two have one id.
(define (_with-id known step)
  (bind others (remove (remove step "do") "id"))
  (unless (empty? others)
    (_refuse (format "a step of `sequence` has `id` and `do`, and no `~a`" (first (keys others)))
             _STEPS))
  (cond ((nil? step.id) known)
        ((member? step.id known)
         (_refuse (format "two steps of `sequence` have the id ~s" step.id)
                  "give each an id of its own: an error is said to be in a step by its id"))
        (else (cons step.id known))))

; -- The same work for each input -----------------------------------------------------------------

; Calls `f` with each input, one after the other; the list of its results. An error says at which
; input it was and holds the results before it.
(define (map-tasks f inputs)
  (_check-inputs "map-tasks" [f] inputs)
  (fold (lambda (results input)
          (append results [(_at-input inputs results {} (lambda () (f input)))]))
        []
        inputs))

; Calls `(work input)` for each input, and `(combine result accumulator input)` at once, in order;
; gives the last accumulator. An error says at which input it was and holds what there is.
(define (reduce-tasks work combine initial inputs)
  (_check-inputs "reduce-tasks" [work combine] inputs)
  (bind end
    (fold (lambda (so-far input)
            (bind known {current_accumulator: so-far.accumulator})
            (bind result (_at-input inputs so-far.results known (lambda () (work input))))
            (bind accumulator
              (_at-input inputs so-far.results known
                (lambda () (combine result so-far.accumulator input))))
            {results: (append so-far.results [result]) accumulator: accumulator})
          {results: [] accumulator: initial}
          inputs))
  end.accumulator)

(define (_at-input inputs results known body)
  (bind at (length results))
  (_keeping (lambda (err)
              {message: (format "error at input ~a of ~a: ~a" (+ at 1) (length inputs) err.message)
               details: (merge known (_inside err)
                          {failed_input_index: at
                           total_inputs: (length inputs)
                           processed_inputs: at
                           partial_results: (append (_results results)
                                                    (_cut err "input_index" at "result"))})})
            body))

(define (_results results)
  (map (lambda (i result) {input_index: i result: result}) (range (length results)) results))

; What had been done inside of the input, where that is told.
(define (_inside err)
  (if (has-key? err.details "partial_results") {input_error: err} {}))

(define (_check-inputs name functions inputs)
  (unless (all? procedure? functions)
    (_refuse (format "`~a` takes ~a, not ~s"
                     name
                     (if (= (length functions) 1) "a function" "two functions")
                     (first (filter (lambda (f) (not (procedure? f))) functions)))
             "write (map-tasks (lambda (input) …) inputs) or (reduce-tasks work combine 0 inputs)"))
  (unless (list? inputs)
    (_refuse (format "`~a` goes through a list, not ~s" name inputs)
             "write a list such as [1 2 3]; (json-parse text) reads one from text")))

; -- Errors ---------------------------------------------------------------------------------------

(define (_keeping more body)
  (handle (body)
    ((error err) resume (forward resume error (_with err (more err))))
    ((std:cut-short err) _ (_with err (more err)))))

(define (_with err said)
  (merge err said {details: (merge err.details said.details)}))

(define (_refuse message hint)
  (raise {type: "PROGRAM_ERROR" reason: "wrong-type" message: message hint: hint}))
