; Tables, charts and numbers.
(defatom describe-column
  (description "Mean, spread and gaps of a column of numbers")
  (params (numbers list) (name string))
  (instructions "{{name}}: {{numbers}}"))
(defatom draw-chart
  (description "Draw a chart of a table")
  (params (rows list doc: "A list of tables, one a row.")
          (x string doc: "The column below.")
          (y string doc: "The column at the side.")
          (kind string default: "line"))
  (instructions "{{kind}} {{x}} {{y}} {{rows}}"))
(defatom clean-rows
  (description "Put wrong and missing values of a table right")
  (params (rows list))
  (instructions "{{rows}}"))
(defatom analyst
  (system "You are an analyst. Others compute and draw for you.")
  (params task (rows list))
  (instructions "{{task}}\n\nThe rows: {{rows}}")
  (allowed_tools spawn_subtask))
(analyst "Show how sales went over the months, as bars."
  [{month: "Jan" sales: 10} {month: "Feb" sales: 14}])
