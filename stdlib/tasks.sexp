; Calling a task with a request's overrides. Inputs are a table of its parameters.

; Calls a task with options of this one call: the task or its quoted name, a table of its `inputs:` and
; overrides, each in the place of what the template says; gives its TaskResult.
(define (call-atomic-task task (inputs {}) (file_paths nil) (context_management nil)
          (previous_outputs nil) (subtype nil) (max_depth nil) (model nil) (return_expectations nil)
          (max_turns nil) (history 'none) (history_config nil) (options nil))
  (run-task task inputs
    {file_paths: file_paths
     context_management: context_management
     previous_outputs: previous_outputs
     subtype: subtype
     max_depth: max_depth
     model: model
     return_expectations: return_expectations
     max_turns: max_turns
     history: history
     history_config: history_config
     options: options}))

; What a TaskResult says. nil where it says nothing of it.

; Whether a TaskResult is COMPLETE and holds no error.
(define (is-task-successful? result)
  (_check "is-task-successful?" result)
  (and (equal? result.status "COMPLETE") (nil? result.notes.error)))

; What a TaskResult says, as text.
(define (get-task-content result)
  (_check "get-task-content" result)
  result.content)

; What a TaskResult says, as data; nil where only text was asked for.
(define (get-task-parsed-content result)
  (_check "get-task-parsed-content" result)
  result.parsed_content)

; What went wrong, of a FAILED TaskResult; else nil.
(define (get-task-error-message result)
  (_check "get-task-error-message" result)
  result.notes.error.message)

; The exit code of a script, of its TaskResult; else nil.
(define (get-task-exit-code result)
  (_check "get-task-exit-code" result)
  result.notes.exit_code)

(define (_check name result)
  (unless (and (table? result) (has-key? result "status"))
    (raise {type: "PROGRAM_ERROR"
            reason: "wrong-type"
            message: (format "`~a` takes a TaskResult, not ~s" name result)
            hint: "it is what a task gives, and what `attempt` makes of an error"})))
