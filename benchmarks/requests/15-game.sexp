; Both tools, and one list.
(defatom describe-place
  (description "Describe a place of the story")
  (params (place string) (mood string required: false))
  (instructions "{{place}} {{mood}}"))
(defatom speak-as
  (description "Say what a character says")
  (params (character string) (to string) (about string))
  (instructions "{{character}} {{to}} {{about}}"))
(defatom roll-dice
  (description "Throw dice")
  (params (count integer) (sides integer))
  (instructions "{{count}}d{{sides}}"))
(defatom master
  (system "You lead a game. What is done is decided by dice before it is told.")
  (params move)
  (instructions "The player: {{move}}")
  (allowed_tools spawn_subtask propose_subplan))
(master "I jump over the gap. (The rules: two dice of six sides.)")
