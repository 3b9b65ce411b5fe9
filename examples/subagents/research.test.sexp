(import "sum-up.xml")

(test "one of three fails, and the others are used"
  file: "research.sexp"
  replies: "replies.json"
  script: [[(now) 0] [(now) 0] [(now) 0] [(now) 0] [(now) 1] [(now) 1] [(now) 1] [(now) 2]]
  expect: "origin: From Yunnan.
market: llm_error: the model refused to answer
use: Three billion cups are drunk in a day.
2 of 3 found something, with 201 tokens.

Tea comes from Yunnan, and three billion cups of it are drunk in a day.")

(test "each knows what it is given"
  (get (spawn-subagent task: "Where from?" relevant_history: "It is about tea.") "content")
  script: [[(now) 0] {contains: "It is about tea." reply: "From Yunnan."} [(now) 1]]
  expect: "From Yunnan.")
