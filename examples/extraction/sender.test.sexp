(test "a reply in a fence, with a field too many, is read"
  file: "sender.sexp"
  script: [{contains: "Ada Lovelace, Bath"
            reply:
              "Here it is:\n```json\n{\"name\": \"Ada\", \"town\": \"Bath\", \"age\": 30}\n```"}]
  expect: {name: "Ada" town: "Bath"})

(test "a reply that never has the fields"
  file: "sender.sexp"
  script: [{reply: "Ada, of Bath."}]
  error: "output_format_failure")
