; Whoever judges is not whoever writes.
(defatom write-poem
  (description "Write a poem")
  (params (topic string) (lines integer default: 4))
  (instructions "{{topic}} {{lines}}"))
(defatom improve-poem
  (description "Write a poem anew, by what a critic says")
  (params (poem string) (critique string))
  (instructions "{{poem}} {{critique}}"))
(defatom judge-poem
  (description "Judge a poem against criteria, and say what to improve")
  (subtype evaluator)
  (criteria "rhythm, image, surprise")
  (params (poem string) (criteria list doc: "Words."))
  (instructions "{{poem}} {{criteria}}"))
(defatom publish-poem
  (description "Print a poem that is good enough")
  (params (poem string) (approved boolean))
  (instructions "{{poem}} {{approved}}"))
(defatom poet
  (params poem)
  (instructions
    "Here is a draft. Nobody has judged it yet; rhythm and surprise matter to us. Go on with what comes next.\n\n{{poem}}")
  (allowed_tools spawn_subtask))
(poet "Rain on the roof / a drum for mice / they dance all night / and nobody pays.")
