; One parameter, of a name that says little.
(defatom grade-essay
  (description "Grade an essay from 1 to 6")
  (params (text string))
  (instructions "Grade: {{text}}"))
(defatom find-plagiarism
  (description "Say whether an essay is copied")
  (params (text string) (sources list doc: "Texts it may be copied from."))
  (instructions "{{text}} {{sources}}"))
(defatom teacher
  (params essay)
  (instructions "A pupil has handed this in, and her parents want to know her mark: {{essay}}")
  (allowed_tools spawn_subtask))
(teacher "The cat is a small animal. It likes fish. I like it.")
