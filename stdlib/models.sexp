; Handlers of `model`: another model where one fails, a log of the calls, and each question asked once.
; Each takes a function without parameters and gives its value. Chapter 10 has examples.

(define _FAILURES ["llm_error" "connection_error" "protocol_error" "no-model" "seconds"])

; Asks other models, the `models` in turn, if a model call in `f` fails; the last error is raised.
; `f` is a function without parameters. `on` are the reasons, or types, of errors after which it does so.
(define (with-fallback models f (on _FAILURES))
  (handle (f)
    ((model payload) resume
      (bind answer (_ask-in-turn payload models on))
      (if answer.error
          (forward resume error answer.error)
          (resume answer.reply)))))

(define (_ask-in-turn payload models on)
  (bind answer (_attempt-call (lambda () (model payload))))
  (if (and answer.error
           (not (empty? models))
           (or (member? answer.error.reason on) (member? answer.error.type on)))
      (_ask-in-turn (put payload "model" (first models)) (rest models) on)
      answer))

; `{reply}`, or `{error}`: also one with which the host refuses the call.
(define (_attempt-call f)
  (handle {reply: (f)}
    ((error err) failing (begin (abandon failing) {error: err}))))

; Writes a log of the model calls in `f`, a function without parameters: `(write payload reply)` is
; called after each, with its reply or its error. By default that is a line of the log.
(define (with-log f (write _log-call))
  (handle (f)
    ((model payload) resume
      (bind answer (_attempt-call (lambda () (model payload))))
      (write payload (or answer.error answer.reply))
      (if answer.error
          (forward resume error answer.error)
          (resume answer.reply)))))

(define (_log-call payload reply)
  (bind asked (or payload.task "a model"))
  (log "info"
       (if (string? reply.message)
           (format "~a: ~a" asked reply.message)
           (format "~a: ~a tokens in, ~a out"
                   asked
                   (or reply.usage.input_tokens 0)
                   (or reply.usage.output_tokens 0)))))

; Caches the model calls in `f`, a function without parameters: a question that was asked before in
; this run is not asked again, nor while another branch waits for its answer. `(key payload)` is what
; makes two questions the same: by default all of the payload.
(define (with-cache f (key identity))
  (handle (f)
    ((model payload) resume
      (bind asked (str "model " (sha256 (format "~s" (key payload)))))
      (bind answer (_attempt-call (lambda () (_once asked (lambda () (model payload))))))
      (bind found answer.reply)
      (cond (answer.error (forward resume error answer.error))
            (found.shared (resume (_without-usage found.value)))
            (else (resume found.value))))))

(define (_without-usage reply)
  (if (table? reply)
      (put reply "usage" {input_tokens: 0 output_tokens: 0})
      reply))

; Calls `f`, a function without parameters, once for each key, a text, in a run, and gives its value.
; All branches have the one value, and wait for it where it is not there yet. It is plain data.
; An error is not kept: the next that asks calls `f` again.
(define (once key f) (get (_once key f) "value"))

(define (_once key f)
  (try
    (match (claim-shared key)
      ({value: value} {value: value shared: true})
      (_ {value: (put-shared key (f)) shared: false}))
    (finally (release-shared key))))
