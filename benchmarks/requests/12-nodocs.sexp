; Nobody has described these: what they do is how their instructions begin.
(defatom summarize
  (params (text string))
  (instructions "Summarize in one sentence: {{text}}"))
(defatom tag
  (params (text string) (most integer default: 5))
  (instructions "List at most {{most}} key words of this text: {{text}}"))
(defatom headline
  (params (text string) (style string))
  (instructions "Write a headline in the style of {{style}} for: {{text}}"))
(defatom desk
  (params text)
  (instructions
    "You are at the desk of a newspaper. This goes online and has to be found by search: at most three key words, please. {{text}}")
  (allowed_tools spawn_subtask))
(desk "The city council has voted for a new tram line to the harbour. It opens in 2031.")
