; Near synonyms: three ways to carry a text over.
(defatom translate
  (description "Translate a text word for word, for lawyers")
  (params (text string) (into string doc: "The name of a language."))
  (instructions "Into {{into}}: {{text}}"))
(defatom localize
  (description "Carry an advertisement over to another market: jokes, names and measures change")
  (params (text string) (market string doc: "The name of a country."))
  (instructions "For {{market}}: {{text}}"))
(defatom interpret
  (description "Say in simple words of the same language what a text means")
  (params (text string))
  (instructions "What does this mean? {{text}}"))
(defatom publisher
  (params order)
  (instructions "You run a publishing house and have all work done by others. The order: {{order}}")
  (allowed_tools spawn_subtask))
(publisher "Our slogan 'Cool as a cucumber, ten miles a gallon' has to work on posters in Japan.")
