(import "organise.xml")
(import "arrange.xml")
(import "find-out.xml")
(import std/plan-tree)

(test "a plan that was refused is proposed better, and a plan in it is done"
  file: "plan.sexp"
  replies: "replies.json"
  expect: "Neighbours! On 6 June we eat in the street. The brass band plays; if it rains, we sit in the school.

organise/sub-0 Completed: On which day is the street free?
organise/sub-1 Completed: arrange the music
  organise/sub-1/sub-0 Completed: Does the choir sing on that day?
  organise/sub-1/sub-1 Completed: Does the brass band play on that day?
organise/sub-2 Completed: Where do we sit if it rains?
organise/sub-3 Completed: Sum up what is settled.")

(test "a handler may do without plans"
  (handle (organise "a street party")
    ((subplan plan) resume (str "wanted: " (length plan.subtasks) " subtasks")))
  replies: "replies.json"
  expect: "wanted: 3 subtasks")
