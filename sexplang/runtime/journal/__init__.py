"""The journal of a run, its recording on disk, and the order of a replay."""
