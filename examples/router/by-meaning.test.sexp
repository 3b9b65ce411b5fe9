(define known "desk,letter\nrefund,Pay me back.\nrepair,It is broken.\n")

(test "a letter goes to the desk of the nearest known one"
  file: "by-meaning.sexp"
  files: {"known.csv": known "letters.txt": "It leaks.\nMy money!"}
  script: [[(model {embed: ["Pay me back." "It is broken."]}) {embeddings: [[1 0] [0 1]]}]
           [(model {embed: ["It leaks." "My money!"]}) {embeddings: [[0.1 0.9] [0.8 0.6]]}]]
  expect: "repair: It leaks.\nrefund: My money!")

(test "a model that has no embeddings ends it"
  file: "by-meaning.sexp"
  files: {"known.csv": known "letters.txt": "It leaks."}
  script: [[(model {embed: _}) "Which vectors?"]]
  error: "protocol_error")
