; The documents of these tests are here, so nothing on the disk is read.

(test "a line for each document, in the order of their names"
  file: "overview.sexp"
  inputs: {folder: "notes"}
  files: {"notes/b.txt": "Bees in the Ilm valley." "notes/a.txt": "The lighthouse of Gull Rock."}
  replies: "replies.json"
  expect: """
    Gull Rock: A lighthouse of 1871 is now a summer museum.
    The Ilm valley: Dry summers have emptied the hives."""
  requests: [(list-files "notes/*.txt") (read-file "notes/a.txt") (model {task: "place"})
             (model {task: "summarize"}) (read-file "notes/b.txt") (model {task: "place"})
             (model {task: "summarize"})])

(test "no documents, no model call"
  file: "overview.sexp"
  files: {}
  expect: ""
  requests: [(list-files "documents/*.txt")])
