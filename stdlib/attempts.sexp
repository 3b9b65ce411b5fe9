; More than one attempt: one after the other until one succeeds; side by side, by majority; or one
; more when the first takes long.

(define _MOST 1000000)  ; calls side by side

; Retries what fails: calls `f` until it gives a value, `times` times at most. `on:` says which errors are worth another
; attempt: a word, a list of words, or a function of the error; without it all are. `backoff:` is the
; seconds to wait, doubled each time, or a function of how often it has failed; with `jitter: true` it
; waits a random part of them. The last attempt is a plain call: its error is the error of the whole.
; What the host refuses is refused at once.
(define (retry f (times 3) (on nil) (backoff nil) (jitter false))
  (_check "retry" f "times" times)
  (unless (or (nil? on) (procedure? on) (_word? on) (and (list? on) (all? _word? on)))
    (_refuse (format "`on:` is a word, a list of words or a function, not ~s" on)
             "write on: 'llm_error, or on: (lambda (err) (equal? err.message \"busy\"))"))
  (unless (boolean? jitter)
    (_refuse (format "`jitter:` is true or false, not ~s" jitter)
             "write (retry f backoff: 2 jitter: true)"))
  (unless (or (nil? backoff) (procedure? backoff) (and (number? backoff) (>= backoff 0)))
    (_refuse (format "`backoff:` is a number of seconds or a function, not ~s" backoff)
             "write backoff: 1, or backoff: (lambda (failures) (* 5 failures))"))
  (loop ((attempt-number 1))
    (if (< attempt-number times)
        (match (handle (f)
                 ((error err) resume
                   (if (_is-on? on err)
                       {failed: (attempt (raise err))}
                       (forward resume error err)))
                 (return value {value: value}))
          ({value: value} value)
          (_
           (_wait backoff jitter attempt-number)
           (recur (+ attempt-number 1))))
        (f))))

(define (_word? value) (or (string? value) (symbol? value)))

(define (_is-on? on err)
  (cond ((nil? on) true)
        ((procedure? on) (on err))
        (else
         (any? (lambda (word) (member? (str word) [err.type err.reason err.details.code]))
               (if (list? on) on [on])))))

(define (_wait backoff jitter failures)
  (unless (nil? backoff)
    (bind seconds
      (if (procedure? backoff)
          (backoff failures)
          (* backoff (expt 2 (- failures 1)))))
    (sleep (if jitter (* seconds (random)) seconds))))

(define-effect (_won value))

; Asks again while an answer is slow: calls `f`, and once more each `after` seconds, `n` times at most;
; gives the first value and cancels the others. Where all have failed, the first one's error counts.
(define (hedge f (after 1) (n 2))
  (_check "hedge" f "n" n _MOST)
  (unless (and (number? after) (>= after 0))
    (_refuse (format "`hedge` takes seconds as `after:`, not ~s" after)
             "write (hedge (lambda () …) after: 5)"))
  (bind ended
    (handle
        (par-map (lambda (turn)
                   (try
                     (begin
                       (unless (= turn 0) (sleep (* turn after)))
                       (_won (f)))
                     (catch (err) err)))
                 (range n))
      ((_won value) _ {value: value})
      (return errors {error: (first errors)})))
  (match ended
    ({value: value} value)
    ({error: err} (raise err))))

; The answer of a majority: calls `f` `n` times side by side, `limit:` of them at a time, and gives the
; answer that more than half of them give; where there is none it raises `no-majority`. `by:` makes of an answer what is
; compared: of a text what it is without the white space around it, else the answer itself. Those that
; fail are counted among the n, but for no answer.
(define (vote f (n 3) (by _answer) (limit nil))
  (_check "vote" f "n" n _MOST)
  (unless (procedure? by)
    (_refuse (format "`vote` takes a function of an answer as `by:`, not ~s" by)
             "write by: (lambda (answer) (string-downcase answer))"))
  (unless (or (nil? limit) (and (integer? limit) (>= limit 1)))
    (_refuse (format "`vote` takes an integer from 1 on as `limit:`, not ~s" limit)
             "write (vote (lambda () …) n: 9 limit: 3)"))
  (bind cast (par-map (lambda (_) (try {answer: (f)} (catch (err) {error: err}))) (range n) limit))
  (bind valid (filter (lambda (each) (has-key? each "answer")) cast))
  (when (empty? valid) (raise (get (first cast) "error")))
  (bind parties (map last (group-by (lambda (each) (by each.answer)) valid)))
  (bind largest (fold (lambda (a b) (if (> (length b) (length a)) b a)) [] parties))
  (if (> (* 2 (length largest)) n)
      (get (first largest) "answer")
      (raise {type: "TASK_FAILURE"
              reason: "no-majority"
              message: (format "no answer has more than half of ~a votes" n)
              hint: "ask more often, or say with `by:` what counts as the same answer"
              details: {votes: (map (lambda (party)
                                      {answer: (get (first party) "answer") count: (length party)})
                                    parties)
                        failed: (- n (length valid))}})))

; What was said, not what it took to say it.
(define (_answer value)
  (bind said (if (failed? value) value (answer value)))
  (if (string? said) (string-trim said) said))

(define (_check name f label count (most nil))
  (unless (procedure? f)
    (_refuse (format "`~a` takes a function without parameters, not ~s" name f)
             (format "write (~a (lambda () …) ~a: 3)" name label)))
  (unless (and (integer? count) (>= count 1) (or (nil? most) (<= count most)))
    (_refuse (format "`~a` takes an integer from 1 ~a as `~a:`, not ~s"
                     name
                     (if (nil? most) "on" (str "to " most))
                     label
                     count)
             (format "write (~a (lambda () …) ~a: 3)" name label))))

(define (_refuse message hint)
  (raise {type: "PROGRAM_ERROR" reason: "wrong-type" message: message hint: hint}))
