"""The scheduler: it delivers replies to branches, which go on, wait, are cancelled or end.

`scheduler` holds the parts and drives them. `branches`: the kinds of branch and their table.
`cancellation`: branches end early, also at limits of the interpreter, with their `partial_results`.
`permits`: how many jobs are done at a time. `plan_graphs`: the branches of a plan.
"""
