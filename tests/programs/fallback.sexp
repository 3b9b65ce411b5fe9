; The backup answers where the main model does not.

(define-input question)

(defatom ask
  (params (question string))
  (instructions "{{question}}")
  (model "main"))

(try (ask question)
  (catch (err llm_error connection_error)
    (log "warn" (str "main failed: " err.message))
    (answer (call-atomic-task ask inputs: {question: question} model: "backup"))))
