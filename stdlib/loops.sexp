; Loops that try until something is good: chapter 10a has examples.
;
; Director and controller stand unprotected: an error of theirs ends the loop, and says in which
; phase and iteration. What executor and evaluator fail with is data for whoever comes next.

(define _NOT_RUN ["not-available" "script-not-found" "script-failed"])

(define _NO_RESULT {status: "COMPLETE" content: "" parsed_content: nil notes: {} usage: {}})

; Works in rounds until the controller is content, `max_iterations` at most; i is counted from 1.
; `(director input i)` gives a plan, `(executor plan i)` does it, `(evaluator execution plan i)` judges
; it, and `(controller evaluation plan execution i)` says `['continue next-input]` or
; `['stop final-value]`. Gives the final value, or the last execution where no round is left; with
; `report: true` a table of value, success, iterations_completed and history.
(define (director-evaluator-loop max_iterations initial director executor evaluator controller
          (report false))
  (_check "director-evaluator-loop" max_iterations report
    [["director" director "input i"]
     ["executor" executor "plan i"]
     ["evaluator" evaluator "execution plan i"]
     ["controller" controller "evaluation plan execution i"]])
  (_rounds max_iterations initial report
    (lambda (input i history)
      (bind turn {iteration: i input: input})
      (bind plan (_in-phase "director" turn history (lambda () (director input i))))
      (bind turn (put turn "plan" plan))
      (bind execution (_tried "executor" turn history (lambda () (executor plan i))))
      (bind turn (put turn "execution" execution))
      (bind given (_tried "evaluator" turn history (lambda () (evaluator execution plan i))))
      (bind evaluation (_in-phase "evaluator" turn history (lambda () (_evaluation given))))
      (bind turn (put turn "evaluation" evaluation))
      (_decided turn history (lambda () (controller evaluation plan execution i))))))

; Works in rounds until a test is content, `max_iterations` at most; i is counted from 1.
; `(executor input i)` does the work, `test_command:` is run, and
; `(controller execution validation input i)` says `['continue next-input]` or `['stop final-value]`;
; `validation` is `{stdout stderr exit_code}`. `validator:`, a function `(test_command i)`, takes the
; place of the command. `report:` is as in `director-evaluator-loop`.
(define (iterative-loop max_iterations initial test_command executor controller (validator nil)
          (report false))
  (bind words (_words test_command))
  (bind validate (if (nil? validator) (lambda (_ i) (_run-test words)) validator))
  (_check "iterative-loop" max_iterations report
    [["executor" executor "input i"]
     ["validator" validate "test_command i"]
     ["controller" controller "execution validation input i"]])
  (_rounds max_iterations initial report
    (lambda (input i history)
      (bind turn {iteration: i input: input})
      (bind execution (_tried "executor" turn history (lambda () (executor input i))))
      (bind turn (put turn "execution" execution))
      (bind given (_tried "validator" turn history (lambda () (validate test_command i))))
      (bind validation (_validation given))
      (bind turn (put turn "validation" validation))
      (_decided turn history (lambda () (controller execution validation input i))))))

; Iterations are counted from 1. `turn` gives all that was done in one, its decision included.
(define (_rounds most initial report turn)
  (if (= most 0)
      (_outcome report () false 0 [])
      (loop ((i 1) (input initial) (history []))
        (bind done (turn input i history))
        (bind turns (_with history done))
        (bind next (nth done.decision 1))
        (cond ((equal? (first done.decision) 'stop) (_outcome report next true i turns))
              ((>= i most) (_outcome report done.execution false i turns))
              (else (recur (+ i 1) next turns))))))

; A history is lists of turns, the latest first, each list longer than those before it: one turn more
; copies few others.
(define (_with history done)
  (loop ((latest [done]) (earlier history))
    (if (and (not (empty? earlier)) (= (length (first earlier)) (length latest)))
        (recur (append (first earlier) latest) (rest earlier))
        (cons latest earlier))))

(define (_turns history)
  (fold (lambda (later each) (append each later)) [] history))

(define (_outcome report value success count history)
  (if report
      {value: value success: success iterations_completed: count history: (_turns history)}
      value))

; The error goes on from where it was raised, so a handler further out may still resume it.
(define (_in-phase phase turn history body)
  (handle (body)
    ((error err) resume (forward resume error (_placed err phase turn history)))
    ((std:cut-short err) _ (_placed err phase turn history))))

(define (_placed err phase turn history)
  (bind place {phase: phase iteration: turn.iteration history: (_turns history) unfinished: turn})
  ; A loop in a loop has a phase of its own.
  (bind inner (if (has-key? err.details "phase") {inner: err.details} {}))
  (merge err
    {message: (format "error in the ~a phase (iteration ~a): ~a" phase turn.iteration err.message)
     details: (merge err.details place inner)}))

; An error becomes a FAILED result; but where a script cannot be run, or the function does not take
; what a loop gives it, going on is of no use. Nor is it where the host refuses something: that
; passes each `attempt` and `catch` of the library.
(define (_tried phase turn history body)
  (_in-phase phase turn history
    (lambda ()
      (handle (body)
        ((error err) resume
          (if (or (member? err.reason _NOT_RUN) (member? err.details.code _NOT_RUN) (_misfits err))
              (forward resume error err)
              (attempt (raise err))))))))

(define (_misfits err)
  (and (equal? err.reason "wrong-arity") (string-contains? (or err.span.library "") "std/loops:")))

(define (_decided turn history body)
  (bind decision (_in-phase "controller" turn history (lambda () (_decision (body)))))
  (put turn "decision" decision))

(define (_decision given)
  (match given
    (['continue next] given)
    (['stop final] given)
    (["continue" next] ['continue next])
    (["stop" final] ['stop final])
    (_
     (raise {type: "PROGRAM_ERROR"
             reason: "bad-decision"
             message: (format "the controller gave ~s" given)
             hint: "it gives ['continue next-input] or ['stop final-value]"
             details: {decision: given}}))))

; -- What evaluators and validators give ----------------------------------------------------------

; A TaskResult, and a table with `success`, is made an EvaluationResult: its notes hold `success` and
; `feedback`. The table keeps its own fields too.
(define (_evaluation given)
  (match given
    ({status: _ notes: {success: _}} (_noted given given.notes))
    ({status: _ notes: {exit_code: code stdout: out stderr: err}}
     (bind said (if (empty? err) out err))
     (bind output {stdout: out stderr: err exit_code: code})
     (_noted given {success: (= code 0) feedback: said script_output: output}))
    ({status: "FAILED" notes: {error: err}}
     (_noted given {success: false feedback: err.message script_output: (_cut-off err)}))
    ({status: _ notes: _ parsed_content: {success: _}}
     (_noted given given.parsed_content))
    ({status: _ notes: _} (_noted given {}))
    ({success: _} (merge given (_noted _NO_RESULT given)))
    (_ given)))

(define (_noted result said)
  (unless (boolean? said.success)
    (raise {type: "INVALID_OUTPUT"
            reason: "bad-evaluation"
            message: (if (has-key? said "success")
                         (format "`success` of the evaluation is ~s" said.success)
                         "the evaluation has no `success`")
            hint: "an evaluator that is a task replies with {\"success\": true, \"feedback\": \"\"}"
            content: result.content
            details: {violations: ["`success` is neither true nor false"]}}))
  (bind known {success: said.success feedback: (or said.feedback result.content)})
  (bind more (if (nil? said.details) known (put known "details" said.details)))
  (bind all
    (if (nil? said.script_output)
        more
        (put more "script_output" said.script_output)))
  (task-result (merge result {notes: (merge result.notes all)}) result))

; A ValidationResult, `{stdout stderr exit_code}`, with `error` where there is none to speak of.
(define (_validation given)
  (match given
    ({status: _ notes: {exit_code: code stdout: out stderr: err}}
     {stdout: out stderr: err exit_code: code})
    ({status: "FAILED" notes: {error: err}}
     (bind said (or (_cut-off err) {stdout: "" stderr: "" exit_code: nil}))
     (put said "error" err))
    (_ given)))

; What a script had said whose time was up, with the exit code of one that was ended; else nil.
(define (_cut-off err)
  (if (equal? err.details.code "script-timeout")
      {stdout: (or err.details.script_stdout "")
       stderr: (or err.details.script_stderr "")
       exit_code: 137}
      nil))

(define (_run-test words)
  (bind done (run-script (first words) (rest words)))
  {stdout: done.stdout stderr: done.stderr exit_code: done.exit_code})

; -- What they are given --------------------------------------------------------------------------

(define (_check name most report functions)
  (unless (and (integer? most) (>= most 0))
    (_refuse (format "`~a` counts to an integer from 0 on, not ~s" name most)
             (format "write (~a max_iterations: 5 …)" name)))
  (unless (boolean? report)
    (_refuse (format "`~a` takes true or false as `report:`, not ~s" name report)
             "leave it out, or write report: true"))
  (for-each (lambda (row)
              (match row
                ([label function params]
                 (unless (procedure? function)
                   (_refuse (format "`~a` takes a function as `~a:`, not ~s" name label function)
                            (format "write `~a: (lambda (~a) …)`" label params))))))
            functions))

; No shell reads it: a text is split at its spaces, and a list is taken as it is.
(define (_words command)
  (bind words
    (if (string? command)
        (filter _some (string-split command " "))
        command))
  (bind quotes (lambda (mark) (and (string? command) (string-contains? command mark))))
  (unless (and (list? words)
               (not (empty? words))
               (all? string? words)
               (not (any? quotes ["'" "\""])))
    (_refuse (format "`test_command:` is a program and its arguments, not ~s" command)
             "write \"pytest -q\", or a list where a word has spaces: [\"pytest\" \"-k\" \"a b\"]"))
  words)

(define (_some word) (not (empty? word)))

(define (_refuse message hint)
  (raise {type: "PROGRAM_ERROR" reason: "wrong-type" message: message hint: hint}))
