; A matcher that asks a model which files have to do with a query, judging by what is known of them.
;
; Where it is imported, `get-context` uses it: it is the program's task for associative matching.

(defatom pick-files
  (subtype "associative_matching")
  (description "Say which files have to do with a query.")
  (params (input object) (candidates list))
  (system
    "You choose files for somebody else's work. You see what is known of them, never their contents.")
  (instructions """
    What is the work: {{input}}

    Files, each with its path and what is known of it:
    {{candidates}}

    Name at most ten files that somebody who does this work has to read, the most important first.
    Reply with JSON: {"summary": "what these files hold, in a sentence",
    "matches": [{"path": "a path from above", "relevance_score": a number from 0 to 1}]}
    No file may be fitting; then `matches` is empty. Make up no paths.
    """)
  (returns {summary?: string matches: [{path: string relevance_score?: number}]}))
