; Calling a task with a request's overrides. Inputs are a table of its parameters.

(define (call-atomic-task task (inputs {}) (file_paths nil) (context_management nil)
          (previous_outputs nil) (subtype nil) (max_depth nil) (model nil) (return_expectations nil)
          (max_turns nil))
  (run-task task inputs
    {file_paths: file_paths
     context_management: context_management
     previous_outputs: previous_outputs
     subtype: subtype
     max_depth: max_depth
     model: model
     return_expectations: return_expectations
     max_turns: max_turns}))
