; The plan tool alone.
(defatom write-section
  (description "Write one section of a report")
  (params (heading string) (words integer default: 200))
  (instructions "{{heading}} in {{words}} words"))
(defatom collect-facts
  (description "Collect facts on a topic, with where they are from")
  (params (topic string) (most integer default: 10))
  (instructions "{{topic}} {{most}}"))
(defatom editor
  (params topic)
  (instructions
    "Have facts on {{topic}} collected, 4 of them at most. Propose nothing else now: the writing is planned later.")
  (allowed_tools propose_subplan))
(editor "the history of tea in Finland")
