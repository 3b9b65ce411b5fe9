(define (chapters . titles)
  (json-string (map (lambda (title) {title: title question: (str title "?")}) titles)))

(test "workers get a chapter each, and the editor all of them in the order of the plan"
  file: "guide.sexp"
  script:
    [{task: "plan" reply: (chapters "Place" "Year")}
     {task: "write-chapter" contains: "Place?" reply: "In the sun."}
     {task: "write-chapter" contains: "Year?" reply: "Honey in July."}
     {task: "edit"
      contains:
        "[{\"title\": \"Place\", \"text\": \"In the sun.\"}, {\"title\": \"Year\", \"text\": \"Honey in July.\"}]"
      reply: "The guide."}]
  expect: "The guide.")

(test "a plan with a title twice is planned again"
  file: "guide.sexp"
  script: [{task: "plan" contains: "Give each its own." reply: (chapters "Place" "Year")}
           {task: "plan" reply: (chapters "Place" "place")}
           {task: "write-chapter" reply: "Text."}
           {task: "edit" reply: "The guide."}]
  expect: "The guide.")

(test "six chapters, again and again: no worker is asked"
  file: "guide.sexp"
  script: [{task: "plan" reply: (chapters "a" "b" "c" "d" "e" "f")}]
  error: ["output_format_failure" "These are 6 chapters."])

(test "a worker that fails is a chapter to follow"
  file: "guide.sexp"
  script: [{task: "plan" reply: (chapters "Place" "Year")}
           {task: "write-chapter" contains: "Place?" reply: {error: "overloaded_error"}}
           {task: "write-chapter" reply: "Honey in July."}
           {task: "edit" contains: "if there are any: [\"Place\"]" reply: "Half a guide."}]
  expect: "Half a guide.")

(test "so is one that takes longer than a minute"
  file: "guide.sexp"
  script: [{task: "plan" reply: (chapters "Place" "Year")}
           [(timer 60)]
           {task: "write-chapter" contains: "Year?" reply: "Honey in July."}
           {task: "edit" contains: "if there are any: [\"Place\"]" reply: "Half a guide."}]
  expect: "Half a guide.")

(test "nothing to edit"
  file: "guide.sexp"
  script: [{task: "plan" reply: (chapters "Place" "Year")}
           {task: "write-chapter" reply: {error: "overloaded_error"}}]
  error: ["raised" "no chapter was written"])
