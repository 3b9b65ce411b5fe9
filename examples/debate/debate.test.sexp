(define (better place) (json-string {better: place because: "of the facts."}))

(test "both sides go on from the same words, and neither sees the other's conversation"
  file: "debate.sexp"
  inputs: {question: "Tea?" rounds: 1}
  script: [[(model {task: "brief" messages: [_]}) "Some facts."]
           [(model {messages: [_
                               {content: [{text: "Some facts."}]}
                               {content: [{text: "Speak for it, in one sentence."}]}]})
            "It is warm."]
           [(model {messages: [_
                               {content: [{text: "Some facts."}]}
                               {content: [{text: "Speak against it, in one sentence."}]}]})
            "It is wet."]
           {contains: "The first: It is warm." reply: (better "first")}
           {contains: "The first: It is wet." reply: (better "second")}]
  expect: "For it: of the facts."
  prints: "for: It is warm.\nagainst: It is wet.")

(test "in the second round each side hears what the other said"
  file: "debate.sexp"
  script: [{task: "judge" contains: "The first: It is warm. No." reply: (better "second")}
           {task: "judge" reply: (better "first")}
           {contains: "The other side says: It is warm." reply: "Beer is cold."}
           {contains: "The other side says: It is wet." reply: "No."}
           {contains: "Speak for it" reply: "It is warm."}
           {contains: "Speak against it" reply: "It is wet."}
           {task: "brief" reply: "Some facts."}]
  expect: "Against it: of the facts.")

(test "a judge who always likes the first has judged nothing"
  file: "debate.sexp"
  inputs: {rounds: 1}
  script: [{task: "judge" reply: (better "first")} {task: "brief" reply: "So it is."}]
  expect: "Undecided: the judge goes by the order of the speakers.")

(test "a side whose model refuses ends the debate"
  file: "debate.sexp"
  script: [{contains: "Speak against it" reply: {text: "I" stop_reason: "refusal"}}
           {task: "brief" reply: "So it is."}]
  error: ["llm_error" "refused"])
