; What answers `subplan` where no handler of the program does, and what a program makes its own
; answer of; chapter 12a has examples. A proposal is judged whole. If it is accepted, its subtasks,
; each an effect `subtask` of its own, are done side by side, in the order that they ask for.

; What answers `subplan` where no handler of the program does: `run-subplan` with nothing more said.
(define (default-subplan plan) (run-subplan plan))

; Judges a proposed plan whole and, if it is accepted, does its subtasks: `{accepted reason results}`
; and what became of it. `limits:` can only lower what a plan may be; `validate:`, a function of subtask
; and result, gives nil or what is wrong with it, which a subtask of its own puts right, `fixes:` times
; at most.
(define (run-subplan plan (limits nil) (validate nil) (fixes 2))
  (_check validate fixes)
  (bind judged (judge-plan plan limits))
  (if (nil? judged.plan)
      {accepted: false reason: judged.reason results: []}
      (as-work "plan" judged.plan.parent (lambda () (_run judged.plan validate fixes)))))

(define (_check validate fixes)
  (unless (and (integer? fixes) (>= fixes 0) (or (nil? validate) (procedure? validate)))
    (raise {type: "PROGRAM_ERROR"
            reason: "wrong-type"
            message: "`validate:` of `run-subplan` is a function, `fixes:` an integer from 0 on"
            hint: "write (run-subplan plan validate: (lambda (subtask result) …) fixes: 2)"})))

; -- A plan ---------------------------------------------------------------------------------------

(define (_run plan validate fixes)
  (_state plan.parent "WaitingForSubtasks")
  (for-each (lambda (node) (_state node.id "Pending")) plan.subtasks)
  (bind most (* plan.factor plan.seconds))
  (bind ended
    (try
      {values: (with-timeout most
                 (fork-graph (lambda (node before) (_worked plan node before validate fixes))
                             plan.subtasks
                             plan.after))}
      (catch (err seconds) {values: err.details.finished late: true})))
  (for-each (lambda (node) (_state node.id "Cancelled")) (_without plan ended.values))
  (bind results
    (map (lambda (node value) (if (_is-over value) value (_cancelled node value)))
         plan.subtasks
         ended.values))
  (bind said (_said plan results ended))
  (_state plan.parent "Synthesizing")
  (merge {accepted: true reason: nil results: results} said
    {parent: plan.parent granted: plan.granted warnings: plan.warnings}))

; What waits for a subtask that has failed is not begun.
(define (_worked plan node before validate fixes)
  (if (all? _is-done before)
      (begin
        (_state node.id "Ready")
        (bind bids (task-bids node))
        (bind result
          (with-permit (lambda ()
                         (_state node.id "Dispatched")
                         (attempt (as-work "plan-node" node.id
                                    (lambda () (_within plan node bids before validate fixes)))))))
        (bind state (if (_is-done result) "Completed" "Failed"))
        (_state node.id state)
        [(_is-enough plan node state) (_noted node result {state: state bids: bids})])
      (begin
        (_state node.id "Failed")
        [false (_skipped node (filter _is-failure before))])))

(define (_is-done result) (not (_is-failure result)))
(define (_is-failure result) (equal? result.status "FAILED"))

(define (_skipped node failed)
  (bind ids (string-join (map (lambda (each) (format "`~a`" each.notes.node.id)) failed) ", "))
  (bind error
    {type: "TASK_FAILURE"
     reason: "skipped"
     message: (format "`~a` was not begun: it waits for ~a, which failed" node.id ids)
     span: nil})
  (_noted node (attempt (raise error)) {state: "Failed" bids: []}))

; What every way begins with is no success yet.
(define (_is-enough plan node state)
  (and (equal? plan.stop_when.kind "FirstSuccess") (equal? state "Completed") (not node.step)))

(define (_state id state) (progress (str id " " state)))

; Those that were cancelled, breadth first: they have no value, or an error with what they took.
(define (_is-over value) (match value ({status: _} true) (_ false)))
(define (_without plan values)
  (bind open (filter (lambda (row) (not (_is-over (last row)))) (zip plan.subtasks values)))
  (sort-by (lambda (node) node.level) (map first open)))

; -- One subtask ----------------------------------------------------------------------------------

; A task that may take its work apart again has its own seconds, and once more those of its parts.
(define (_within plan node bids before validate fixes)
  (bind winner (if (empty? bids) {} (first bids)))
  (bind seconds (if winner.decomposes (* plan.factor node.seconds) node.seconds))
  (bind request (_request plan node winner before))
  (in-node node (put node.budget "seconds" seconds)
    (lambda ()
      (_suggesting node bids (lambda () (_checked node request winner validate fixes))))))

(define (_request plan node winner before)
  (_with-outputs {description: node.description
                  name: (or node.name winner.task)
                  type: "atomic"
                  inputs: node.inputs
                  template_hints: (append node.required_capabilities node.template_hints)
                  file_paths: node.file_paths
                  return_expectations: (_expected node)
                  depth: plan.child_depth
                  max_depth: plan.max_depth}
                 before))

(define (_with-outputs request outputs)
  (if (empty? outputs)
      request
      (merge request
        {previous_outputs: outputs
         context_management: {accumulate_data: true accumulation_format: "full_output"}})))

(define (_expected node)
  (if
    (and (empty? node.outputs) (empty? node.files))
    nil
    (string-join
      ["one JSON object {\"content\": what you have to say, \"artifacts\": [{\"name\": \"…\","
       "\"type\": \"…\", \"text\": \"…\" or \"path\": \"…\"}]} and nothing else, with"
       (string-join (append (map (lambda (type) (str "an artifact of type " type)) node.outputs)
                            (map (lambda (path) (str "the file " path)) node.files))
                    ", ")]
      " ")))

; What is wrong with an output is put right by a subtask of its own, not by doing all again.
(define (_checked node request winner validate fixes)
  (loop ((asked request) (tries []))
    (bind result (_telling tries (lambda () (_as-result (subtask asked)))))
    (bind given (check-outputs node result))
    (bind made (_with-artifacts result given))
    (bind wrong (if (_is-done made) (_wrong node made given.missing validate) nil))
    (cond ((nil? wrong) (_after tries made))
          ((= (length tries) fixes)
           (raise (_with-tries (_unexpected node made wrong fixes) (append tries [made]))))
          (else
           (_state node.id "Validating")
           (recur (_fix request winner made wrong) (append tries [made]))))))

(define (_unexpected node made wrong fixes)
  {type: "TASK_FAILURE"
   reason: "subtask_failure"
   message: (format "the output of `~a` is not as expected: ~a" node.id wrong)
   content: made.content
   hint: "expect less of it, or say more clearly what it has to give"
   details: {violations: [wrong] fixes: fixes}
   span: nil})

; What was tried before stands in the notes of what comes of it, and its tokens count: of a result, and
; of the error that ends a later try.
(define (_after tries made)
  (if (empty? tries)
      made
      (task-result (put made
                        "notes"
                        (merge made.notes (_given tries made.notes)
                          {chain_usage: (_usage-of (append tries [made]))}))
                   made)))

(define (_telling tries body)
  (if (empty? tries)
      (body)
      (handle (body)
        ((error err) resume (forward resume error (_with-tries err tries)))
        ((std:cut-short err) _ (_with-tries err tries)))))

(define (_with-tries err tries)
  (bind partial (or err.details.partial_results {}))
  (bind given (if (table? partial) (_given tries partial) {}))
  (put err
       "details"
       (merge err.details
         {usage: (_sum (_usage-of tries) (or err.details.usage {}))
          partial_results: (if (table? partial) (merge partial given) partial)})))

(define (_given tries notes)
  (bind delivered (append (map (lambda (each) each.notes.artifacts) tries) [notes.artifacts]))
  (bind named
    (fold (lambda (all each) (put all each.name each)) {} (flatten (filter list? delivered))))
  (bind subtasks {subtasks: (append tries (or notes.subtasks []))})
  (if (empty? named) subtasks (put subtasks "artifacts" (values named))))

(define (_usage-of results)
  (fold (lambda (all each)
          (_sum all (or each.notes.chain_usage each.notes.error.details.usage each.usage {})))
        {}
        results))

(define (_sum one other)
  (fold (lambda (all name) (put all name (+ (get all name 0) (get other name)))) one (keys other)))

(define (_wrong node result missing validate)
  (cond ((not (empty? missing)) (str "there is no " (string-join missing ", and no ")))
        ((nil? validate) nil)
        (else (validate node result))))

(define (_fix request winner result wrong)
  (bind words
    (str "Fix the result of this, and nothing else: "
         request.description
         ". What is wrong: "
         wrong))
  (bind is-ours (equal? (get request.inputs (or winner.param "")) request.description))
  (merge (_with-outputs request [result])
    {description: words
     inputs: (if is-ours (put request.inputs winner.param words) request.inputs)}))

(define (_as-result given)
  (match given
    ({status: _ content: _ notes: _} given)
    ((? string? text) (task-result {status: "COMPLETE" content: text notes: {}}))
    (_
     (task-result {status: "COMPLETE"
                   content: (str given)
                   parsed_content: given
                   notes: {}
                   answer: given}))))

(define (_with-artifacts result given)
  (if (empty? given.artifacts)
      result
      (task-result (merge result
                     {content: (or given.content result.content)
                      notes: (put result.notes "artifacts" given.artifacts)})
                   result)))

(define (_noted node result said)
  (bind bids said.bids)
  (bind task (if (empty? bids) node.name (get (first bids) "task")))
  (bind about
    {id: node.id
     description: node.description
     state: said.state
     after: node.after
     task: task
     spread: (bid-spread bids)})
  (task-result (merge result {notes: (put result.notes "node" about)}) result))

(define (_cancelled node cut)
  (bind error (or cut {type: "TASK_FAILURE" reason: "cancelled" span: nil}))
  (bind told (put error "message" (format "`~a` was cancelled" node.id)))
  (_noted node (attempt (raise told)) {state: "Cancelled" bids: []}))

; -- What comes of it -----------------------------------------------------------------------------

(define (_said plan results ended)
  (bind kind plan.stop_when.kind)
  (bind failed (filter _has-failed results))
  (cond (ended.late
         {reason: (format "the subtasks were not done within ~a seconds, ~a the ~a of their parent"
                          (* plan.factor plan.seconds)
                          (if (= plan.factor 2) "twice" (str plan.factor " times"))
                          plan.seconds)})
        ((equal? kind "UserDecision") (_decided plan results))
        ((equal? kind "FirstSuccess")
         (if (_succeeded plan results) {} {reason: "no subtask succeeded"}))
        ((empty? failed) {})
        (else {reason: (string-join (map _failure failed) "; ")})))

(define (_has-failed result)
  (and (equal? result.notes.node.state "Failed")
       (not (equal? result.notes.error.reason "skipped"))))

(define (_failure result)
  (format "subtask `~a` failed: ~a" result.notes.node.id (_why result)))

(define (_succeeded plan results)
  (any? (lambda (row) (and (_is-done (nth row 1)) (not (get (first row) "step"))))
        (zip plan.subtasks results)))

(define (_why result) (or result.notes.error.message result.content))

; A person says what is used of the results: all, one of them, or none.
(define (_decided plan results)
  (bind done (filter _is-done results))
  (bind choices
    (append ["all"]
            (map (lambda (each) (str each.notes.node.id ": " each.notes.node.description)) done)
            ["none"]))
  (bind shown (map (lambda (each) (str each.notes.node.id ": " (_short (str each)))) done))
  (bind asked
    (if (empty? plan.stop_when.description)
        "Which results?"
        plan.stop_when.description))
  (try
    (bind decision (ask-user (string-join (cons asked shown) "\n") choices))
    (if (equal? decision "none")
        {decision: decision reason: "a person decided to use none of the results"}
        {decision: decision})
    (catch (err) {reason: (str "nobody decided which results to use: " err.message)})))

(define (_short text)
  (if (> (string-length text) 300)
      (str (substring text 0 299) "…")
      text))

; -- Bids, and when to take work apart ------------------------------------------------------------

; How far the bids for a subtask lie apart, from 0 to 1: by fitness or by cost, whichever is more.
; A subtask for which they lie far apart is ambiguous.
(define (bid-spread bids)
  (unless (and (list? bids) (all? table? bids))
    (raise {type: "PROGRAM_ERROR"
            reason: "wrong-type"
            message: (format "`bid-spread` takes a list of bids, not ~s" bids)
            hint: "write [{fitness: 0.9 cost: 2} …]"}))
  (if (< (length bids) 2)
      0
      (max (_apart (map (lambda (bid) bid.fitness) bids))
           (_apart (map (lambda (bid) bid.cost) bids)))))

(define (_apart numbers)
  (bind most (apply max numbers))
  (if (= most 0) 0 (/ (- most (apply min numbers)) most)))

; `(with-suggestions {calls: 8} f)` is `(with-budget {calls: 8} (f))`, where a conversation that
; has used half of the calls and has proposed nothing yet is told that it may.
(define (with-suggestions budget f)
  (with-budget budget (_suggested-from (quotient (+ (or budget.calls 20) 1) 2) (_half-used) f)))

(define (_half-used)
  "Half of what may be used is used, and nothing is done yet. Consider to propose a subplan.")

(define (_ambiguous)
  "This may mean several things. If so, consider to propose a subplan, its reason Ambiguity.")

(define (_suggesting node bids body)
  (bind calls node.budget.calls)
  (bind told
    (if (nil? calls)
        body
        (lambda () (_suggested-from (quotient (+ calls 1) 2) (_half-used) body))))
  (if (> (bid-spread bids) 0.5)
      (_suggested-from 0 (_ambiguous) told)
      (told)))

; The words stand after so many turns, and stay there: what was sent before is never changed.
(define (_suggested-from turns words body)
  (handle (body)
    ((model payload) resume (forward resume model (_suggested payload turns words)))))

(define (_suggested payload turns words)
  (bind at (* 2 turns))
  (bind messages (_list payload "messages"))
  (if (and (any? (lambda (tool) (equal? tool.name "propose_subplan")) (_list payload "tools"))
           (> (length messages) at)
           (not (any? _proposes (take messages at))))
      (put payload
           "messages"
           (append (take messages at)
                   [(_with-words (nth messages at) words)]
                   (drop messages (+ at 1))))
      payload))

(define (_list payload name) (or (and (table? payload) (get payload name)) []))

(define (_proposes message)
  (any? (lambda (block) (equal? (get block "name") "propose_subplan")) (_blocks message)))

(define (_with-words message words)
  (put message "content" (append (_blocks message) [{type: "text" text: words}])))

(define (_blocks message)
  (if (list? message.content)
      message.content
      [{type: "text" text: (str message.content)}]))
