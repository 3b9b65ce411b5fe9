"""The scheduler: deliveries to branches that go on, wait, are cancelled or end.

`scheduler` holds the parts and drives them. `branches`: what a branch is, and their table.
`forks`: branches begin and end. `cancellation`: branches end before their time, with
`partial_results` and `cut_short` for what they had by then. `termination`: limits of the
interpreter. `permits` and `jobs`: how many jobs are done at a time. `slices`: computing in slices.
"""
