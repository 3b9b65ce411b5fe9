; The same, and a graph of what was done, in Mermaid's notation.

(import "organise.xml")
(import "arrange.xml")
(import "find-out.xml")
(import std/plan-tree)

(subplan-mermaid (organise "a street party"))
