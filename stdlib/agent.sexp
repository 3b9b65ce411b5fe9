; An agent: a task that goes on until it is done. Its choices are operations: what no handler of the
; program takes is answered as the comments say. Chapter 10 has examples.

; Which tools the agent's model has, a list of names: nil for those of the task. A task without tools
; of its own has to say how many turns it takes, `(limits max_turns: 20)`.
(define-effect (agent-tools task) "The tools of an agent, by name.")

; `{rounds max_turns}`: how often the agent goes on, and the turns of the model in each round. By
; default as often as `run-agent` says, and the turns of the task. Both can only be lowered.
(define-effect (agent-limits task) "The limits of an agent.")

; What the model is told after a round, and the agent goes on; nil, and the agent is done. By default
; the first answer ends it.
(define-effect (agent-next result round) "The words with which an agent goes on, or nil.")

; The answer to `agent-tools` that no handler takes.
(define (default-agent-tools task) nil)

; The answer to `agent-limits` that no handler takes.
(define (default-agent-limits task) {})

; The answer to `agent-next` that no handler takes.
(define (default-agent-next result round) nil)

; Has a task done with these inputs, a table, round after round in one conversation, `rounds` at most;
; gives the last TaskResult. What a full window drops is the effect `compact`. Used up, the rounds are
; an error.
(define (run-agent task inputs (rounds 10))
  (bind limits (agent-limits task))
  (bind most (min rounds (or limits.rounds rounds)))
  (bind begun (run-task task inputs {tools: (agent-tools task) max_turns: limits.max_turns}))
  (loop ((result begun) (round 1))
    (bind words (agent-next result round))
    (cond ((nil? words) result)
          ((>= round most)
           (raise {type: "RESOURCE_EXHAUSTION"
                   reason: "turns"
                   message: (format "the agent is not done after round ~a" round)
                   hint: "allow more `rounds:`, or tell it more in `agent-next`"
                   content: result.content
                   details: {rounds: round words: words}}))
          (else (recur (continue result words) (+ round 1))))))

; Allows or refuses each tool call of the models in `f`, a function without parameters. A function or
; a tool of the host is called if `(allow name inputs)` gives nil; else what it gives is the reason that
; the model is told.
(define (with-approval allow f)
  (handle (f)
    ((tool name inputs) resume
      (bind reason (allow name inputs))
      (if (nil? reason)
          (forward resume tool name inputs)
          (forward resume error {reason: "not-allowed" message: (str reason)})))))
