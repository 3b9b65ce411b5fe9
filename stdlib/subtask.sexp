; What answers `subtask` where no handler of the program does.
;
; It runs at the point of the perform, inside every handler around it; depth and cycles are
; checked where the task begins.

(define (default-subtask request)
  (call-atomic-task (match-task request)
    inputs: (or request.inputs {})
    subtype: (or request.subtype "subtask")
    file_paths: request.file_paths
    previous_outputs: request.previous_outputs
    context_management: request.context_management
    return_expectations: request.return_expectations
    max_depth: request.max_depth))
