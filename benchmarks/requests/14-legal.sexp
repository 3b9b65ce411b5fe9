; Clauses of a contract.
(defatom find-clause
  (description "Find a clause of a contract by its subject")
  (params (contract string) (subject string))
  (instructions "{{contract}} {{subject}}"))
(defatom explain-clause
  (description "Explain a clause to somebody who is no lawyer")
  (params (clause string))
  (instructions "{{clause}}"))
(defatom compare-clauses
  (description "Say how two versions of a clause differ")
  (params (old string) (new string))
  (instructions "{{old}} {{new}}"))
(defatom draft-clause
  (description "Write a new clause")
  (params (subject string) (party string doc: "Whom it protects: buyer or seller."))
  (instructions "{{subject}} {{party}}"))
(defatom counsel
  (params matter)
  (instructions "You are counsel and give work to your clerks. {{matter}}")
  (allowed_tools spawn_subtask))
(counsel
  "The other side sent a change. Before: 'Payment within 30 days.' After: 'Payment within 30 working days.' What is different?")
