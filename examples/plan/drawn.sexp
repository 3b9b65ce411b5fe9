; The same, and a graph of what was done, in Mermaid's notation.

(import "organise.xml")
(import "arrange.xml")
(import "find-out.xml")
(import std/plan-tree)

(subplan-mermaid (call-task organise "a street party"))
