; Something is down.
(defatom restart-service
  (description "Restart a service that hangs")
  (params (service string) (force boolean default: false))
  (instructions "Restart {{service}}, force {{force}}"))
(defatom roll-back
  (description "Bring the version before back, where a release is at fault")
  (params (service string) (version string doc: "The version to go back to."))
  (instructions "Roll {{service}} back to {{version}}"))
(defatom scale-up
  (description "Add instances where there is too much load")
  (params (service string) (instances integer doc: "How many there are to be."))
  (instructions "{{service}}: {{instances}}"))
(defatom page-a-person
  (description "Wake somebody, where nothing else helps")
  (params (message string))
  (instructions "{{message}}"))
(defatom on-call
  (system "You are on call. Take one measure at a time, the mildest that removes the cause.")
  (params alert)
  (instructions "Alert: {{alert}}")
  (allowed_tools spawn_subtask))
(on-call
  "checkout answers with 500 since release 4.2.0 went out ten minutes ago. 4.1.9 had no such errors. Load is normal.")
