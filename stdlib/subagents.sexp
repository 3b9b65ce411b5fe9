; Subagents: a task done apart, in a conversation of its own that knows only what it is given.
;
; What goes wrong in one is a value, but for what the host refuses. A subagent works in one of the
; run's permits; its seconds begin when it has one.

(defatom _subagent
  (description "Do one task and report on it.")
  (params (prompt string) (system string))
  (system "{{system}}")
  (instructions "{{prompt}}")
  (limits max_turns: 10 max_output_tokens: 4096))

(define _APART {inherit_context: "none" fresh_context: "disabled"})

(define _SYSTEM """
  You are given one task, and nobody is there whom you could ask.

  - Do this task and nothing else.
  - Look things up with your tools where you have any.
  - Answer in as few words as the result needs.
  - Say where you have from what you did not know yourself.
  - If it cannot be done, say why.
  """)

(define _SHOWN 50)  ; characters of a task in the log

; Does one task apart, in a conversation that knows only what it is given: the `task:`, the
; `relevant_history:`, `constraints:` and a `system_prompt:`. It has the `tools:` listed, or all that
; there are, and at most `timeout:` seconds and `max_iterations:` model calls, by default 60 and 10.
; What goes wrong is told in what it gives: `{success content sources error token_usage}`. What the
; host refuses is raised. `parent_trace_id:` is the trace that its entries in the log name, by default
; the run's own.
(define (spawn-subagent (task nil) (relevant_history nil) (constraints []) (system_prompt nil)
          (tools nil) (timeout nil) (max_iterations nil) (parent_trace_id nil))
  (bind wrong
    (or (_complaint task relevant_history constraints system_prompt tools)
        (_unlimited timeout max_iterations parent_trace_id)))
  (if wrong
      (_failed {task: (_short task) traceId: parent_trace_id} wrong "" {} [])
      (with-permit (lambda ()
                     (as-work "subagent" (_short task)
                       (lambda ()
                         (_done task
                                {prompt: (_prompt task (_listed constraints))
                                 system: (or system_prompt _SYSTEM)}
                                {tools: (or tools ["*"])
                                 history: (_history relevant_history)
                                 context_management: _APART}
                                timeout
                                max_iterations
                                parent_trace_id)))))))

(define (_done task inputs overrides timeout most trace)
  (bind began (now))
  (bind limits (subagent-limits))
  (bind turns (min (last limits) (if most (exact most) (last limits))))
  (bind seconds (if timeout (min timeout (first limits)) (first limits)))
  (bind result
    (attempt (with-timeout seconds (run-task '_subagent inputs (put overrides "max_turns" turns)))))
  (bind err result.notes.error)
  (bind entry {task: (_short task) traceId: trace durationMs: (_milliseconds began)})
  (if (nil? err)
      (begin
        (bind usage (_tokens (or result.notes.chain_usage result.usage)))
        (_log "subagent.complete" entry
          {tokens: (+ usage.input usage.output) iterations: result.notes.turns})
        {success: true
         content: result.content
         sources: (or result.notes.sources [])
         error: nil
         token_usage: usage})
      (begin
        (when (equal? err.reason "turns")
          (_log "subagent.max_iterations" (remove entry "durationMs")
            {iterations: err.details.metrics.limit}))
        (_failed (put entry "isTimeout" (equal? err.reason "seconds"))
                 (_why err seconds)
                 (or err.content "")
                 err.details.usage
                 (or err.details.sources [])))))

(define (_failed entry why content usage sources)
  (_log "subagent.failed" entry {error: why})
  {success: false content: content sources: sources error: why token_usage: (_tokens usage)})

(define (_why err seconds)
  (cond ((equal? err.reason "seconds")
         (format "the subagent timed out after ~a seconds" seconds))
        ((equal? err.reason "turns")
         (format "the subagent was not done after ~a calls of the model" err.details.metrics.limit))
        (else (str err.reason ": " err.message))))

(define (_tokens usage)
  {input: (get (or usage {}) "input_tokens" 0) output: (get (or usage {}) "output_tokens" 0)})

(define (_prompt task constraints)
  (str "Task: "
       task
       (if (empty? constraints)
           ""
           (str "\n\nConstraints:\n"
                (string-join (map (lambda (c) (str "- " c)) constraints) "\n")))
       "\n\nDo this task and give a clear, concise result."))

(define (_history words)
  (if (or (nil? words) (empty? words))
      'none
      [{role: "user" content: (str "Context:\n" words)}
       {role: "assistant" content: "I have read the context. What is the task?"}]))

(define (_complaint task words constraints system_prompt tools)
  (cond
    ((table? task)
     "`task:` is a text, not a table: write (spawn-subagent task: \"what to do\" tools: […])")
    ((not (and (_text? task) (not (empty? (string-trim task)))))
     "`task:` says what a subagent is to do, in a text that is not empty")
    ((not (or (nil? words) (_text? words))) "`relevant_history:` is a text")
    ((not (all? _text? (_listed constraints))) "`constraints:` is a list of texts")
    ((not (or (nil? system_prompt) (string? system_prompt)))
     "`system_prompt:` is a text")
    ((not (or (nil? tools) (and (list? tools) (all? string? tools))))
     "`tools:` is a list of the names of tools")
    (else nil)))

(define (_unlimited timeout most trace)
  (cond ((not (or (nil? timeout) (and (number? timeout) (> timeout 0))))
         "`timeout:` is a number of seconds above 0")
        ((not (or (nil? most) (and (integer? most) (> most 0))))
         "`max_iterations:` is a number of calls of the model, from 1 on")
        ((not (or (nil? trace) (_text? trace))) "`parent_trace_id:` is a text")
        (else nil)))

(define (_text? value)
  (or (string? value) (and (table? value) (string? value.content))))

(define (_listed given)
  (cond ((nil? given) [])
        ((list? given) given)
        (else [given])))

(define (_short task)
  (bind words (str task))
  (substring words 0 (min _SHOWN (string-length words))))

(define (_log event entry more) (log 'debug (merge {event: event} entry more)))

(define (_milliseconds began) (exact (round (* 1000 (- (now) began)))))

(define _FIELDS
  ["task" "relevant_history" "constraints" "system_prompt" "tools" "timeout" "max_iterations"
   "parent_trace_id"])

(define _CAMEL
  {relevantHistory: "relevant_history"
   systemPrompt: "system_prompt"
   maxIterations: "max_iterations"
   parentTraceId: "parent_trace_id"})

; Does several tasks apart, as many at a time as there are permits: `[{id: … task: …} …]`, with the
; other fields of `spawn-subagent`. Gives `{results success_count failure_count total_duration}`, the
; results in the order of the list. `parent_trace_id:` is that of each which names no other.
(define (run-parallel-subagents tasks (parent_trace_id nil))
  (bind found (_misfit tasks))
  (when found
    (raise {type: "PROGRAM_ERROR"
            reason: "wrong-type"
            message: found
            hint: "write [{id: \"a\" task: \"what to do\"} …]"}))
  (bind began (now))
  (_log "subagent.parallel.start" {taskCount: (length tasks) traceId: parent_trace_id} {})
  (bind results
    (as-work "subagents" "run-parallel-subagents"
      (lambda ()
        (par-map (lambda (each) {task_id: each.id result: (_spawned each parent_trace_id)})
                 tasks))))
  (bind succeeded (length (filter (lambda (each) each.result.success) results)))
  (bind failed (- (length results) succeeded))
  (bind duration (_milliseconds began))
  (_log "subagent.parallel.complete"
        {successCount: succeeded
         failureCount: failed
         totalDurationMs: duration
         traceId: parent_trace_id}
        {})
  {results: results success_count: succeeded failure_count: failed total_duration: duration})

; What it is given may stand in a `context` of its own; camelCase is how a model may write it.
(define (_spawned each trace)
  (bind context (if (nil? each.context) {} each.context))
  (bind inner (if (table? context) context {}))
  (bind own (remove (remove each "id") "context"))
  (bind names (map (lambda (name) (get _CAMEL name name)) (append (keys inner) (keys own))))
  (bind given
    (fold (lambda (fields pair) (put fields (first pair) (last pair)))
          {}
          (zip names (append (values inner) (values own)))))
  (bind wrong (if (table? context) (_unfit names) "`context` is a table"))
  (if wrong
      (_failed {task: (_short given.task) traceId: trace} wrong "" {} [])
      (spawn-subagent
        task: given.task
        relevant_history: given.relevant_history
        constraints: given.constraints
        system_prompt: given.system_prompt
        tools: given.tools
        timeout: given.timeout
        max_iterations: given.max_iterations
        parent_trace_id: (or given.parent_trace_id trace))))

(define (_unfit names)
  (bind unknown (filter (lambda (name) (not (member? name _FIELDS))) names))
  (bind twice (_twice names))
  (cond ((not (empty? unknown))
         (format "a subagent has no field `~a`: it has ~a"
                 (first unknown)
                 (string-join _FIELDS ", ")))
        ((not (empty? twice)) (format "the field `~a` occurs twice" (first twice)))
        (else nil)))

(define (_twice names)
  (map first (filter (lambda (party) (> (length (last party)) 1)) (group-by identity names))))

(define (_misfit tasks)
  (cond ((not (and (list? tasks) (all? table? tasks)))
         (format "`run-parallel-subagents` takes a list of tables, not ~s" tasks))
        ((not (all? _named? tasks))
         (bind unnamed (first (filter (lambda (each) (not (_named? each))) tasks)))
         (format "each subagent has an `id`, a text that is not empty, not ~s" unnamed.id))
        (else
         (bind twice (_twice (map (lambda (each) each.id) tasks)))
         (if (empty? twice)
             nil
             (format "two subagents have the id `~a`" (first twice))))))

(define (_named? each) (and (_text? each.id) (not (empty? each.id))))
