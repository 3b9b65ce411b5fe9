; What answers `subtask` where no handler of the program does.
;
; It runs at the point of the perform, inside every handler around it; depth and cycles are
; checked where the task begins.

; What answers `subtask` where no handler of the program does: the task that fits the request is run,
; one deeper, with what the request says. An error says of which subtask it is.
(define (default-subtask request)
  (handle (_done request (match-task request))
    ((error err) resume (forward resume error (_of-subtask err request)))))

(define (_done request matched)
  (run-task matched.task matched.inputs
    {asked_for: request.name
     matched: matched.found
     subtype: (or request.subtype "subtask")
     file_paths: request.file_paths
     previous_outputs: request.previous_outputs
     context_management: request.context_management
     return_expectations: request.return_expectations
     history_config: request.history_config
     options: request.options
     max_depth: request.max_depth}))

; Once: the innermost subtask is the one that failed.
(define (_of-subtask err request)
  (if (has-key? err.details "subtaskRequest")
      err
      (let ((place (if (nil? request.depth) {} {nestingDepth: request.depth}))
            (asked {subtaskRequest: (fold remove request ["result" "depth" "previous_outputs"])}))
        (merge err {details: (merge place err.details asked)}))))
