(test "files, a function of Python and a note"
  file: "agent.sexp"
  inputs: {question: "What do 3 kettles cost?"}
  files: {"kettle.txt": "A kettle."}
  script: [[(model {task: "agent"}) {tool_use: {name: "list_files" input: {glob: "*.txt"}}}]
           [(model) {tool_use: {name: "read_file" input: {path: "kettle.txt"}}}]
           [(model) {tool_use: {name: "price" input: {item: "kettle" count: 3}}}]
           [(tool "price" {item: "kettle" count: 3}) 90]
           [(model) {tool_use: {name: "save-note" input: {title: "kettles" text: "3 cost 90"}}}]
           [(model) "They cost 90."]]
  expect: "They cost 90."
  requests: [(model)
             (list-files "*.txt")
             (model)
             (read-file "kettle.txt")
             (model)
             (tool "price")
             (model)
             (write-file "notes/kettles.md" "3 cost 90")
             (model)])
