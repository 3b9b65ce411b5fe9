; The same task, with a handler that decides about every subtask it asks for.

(import "report.xml")
(import "look-up.xml")

(define-input topic default: "tea")

(handle (report topic)
  ((subtask request) resume
    (log "info" (str "asked for: " request.description))
    (if (string-contains? request.description "secret")
        (resume "That must not be looked up.")  ; the answer, made up here
        (forward resume subtask request))))     ; or the default after all
