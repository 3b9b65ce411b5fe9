"""The scheduler: it delivers replies to branches, which go on, wait, are cancelled or end.

`scheduler` holds the parts and drives them. `branches`: the kinds of branch and their table.
`forks`: branches begin and end. `cancellation`: branches end early, with their `partial_results`
and `cut_short` hooks. `termination`: limits of the interpreter. `permits` and `jobs`: how many jobs
are done at a time. `slices`: computing in slices.
"""
