; Many tasks, and a clause that names three.
(defatom delete-account
  (description "Delete an account for ever")
  (params (user string))
  (instructions "{{user}}"))
(defatom lock-account
  (description "Lock an account until somebody unlocks it")
  (params (user string) (reason string))
  (instructions "{{user}} {{reason}}"))
(defatom lock-account-for
  (description "Lock an account for some hours")
  (params (user string) (hours integer) (reason string required: false))
  (instructions "{{user}} {{hours}} {{reason}}"))
(defatom warn-user
  (description "Send a warning to a user")
  (params (user string) (text string))
  (instructions "{{user}} {{text}}"))
(defatom refund
  (description "Give money back")
  (params (user string) (amount number))
  (instructions "{{user}} {{amount}}"))
(defatom moderator
  (system
    "You moderate a forum. The rule: first insult, a warning; second, a day without the account.")
  (params report)
  (instructions "{{report}}")
  (allowed_tools spawn_subtask)
  (subtasks warn-user lock-account-for lock-account))
(moderator "The user mira has insulted somebody for the second time this week.")
