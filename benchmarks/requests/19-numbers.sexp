; Types that are easily mistaken.
(defatom convert-money
  (description "Convert an amount from one currency to another")
  (params (amount number) (from string doc: "As EUR.") (to string doc: "As USD."))
  (instructions "{{amount}} {{from}} {{to}}"))
(defatom convert-units
  (description "Convert a measure from one unit to another")
  (params (value number) (from string doc: "As km.") (to string doc: "As mi."))
  (instructions "{{value}} {{from}} {{to}}"))
(defatom split-bill
  (description "Split a bill among people")
  (params (total number) (people integer) (tip-percent number default: 0))
  (instructions "{{total}} {{people}} {{tip-percent}}"))
(defatom add-up
  (description "Add up amounts")
  (params (amounts list doc: "Numbers."))
  (instructions "{{amounts}}"))
(defatom waiter
  (params wish)
  (instructions "You have all sums done by others. {{wish}}")
  (allowed_tools spawn_subtask))
(waiter
  "We are five, the bill is 132.50, and we want to leave ten percent on top. What does each of us pay?")
