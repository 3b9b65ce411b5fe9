; A question, and who may find what.
(import "library.sexp" as: library)
(defatom researcher
  (params question)
  (instructions "Find out, by those who can look things up: {{question}}")
  (allowed_tools spawn_subtask))
(researcher
  "What do the papers that were published since 2020 say about coffee and sleep? I need no more than five of them.")
