; A customer writes; the right desk answers.
(defatom reply-to-refund
  (description "Answer a customer who wants money back")
  (params (order-id string doc: "As A-1234.") (reason string) (amount number required: false))
  (instructions "Refund {{order-id}} of {{amount}}: {{reason}}"))
(defatom reply-to-delivery
  (description "Answer a customer whose parcel has not come")
  (params (order-id string doc: "As A-1234.") (days-late integer))
  (instructions "Parcel {{order-id}} is {{days-late}} days late."))
(defatom reply-to-account
  (description "Answer a customer who cannot log in")
  (params (email string))
  (instructions "Help {{email}} to log in."))
(defatom front-desk
  (system "You sort the mail of a shop. You never answer yourself: you have each letter answered.")
  (params letter)
  (instructions "Have this letter answered: {{letter}}")
  (allowed_tools spawn_subtask))
(front-desk
  "My parcel A-7719 should have been here on Monday. It is Friday now, four days late. Where is it?")
