"""The example's run: recorded, replayed, and the same however often it is run."""

from support.command import sexplang

FOLDER = "examples/plan"
SCRIPT = f"scripted:{FOLDER}/replies.json"


def test_a_recorded_plan_is_replayed(tmp_path):
    """Replies come from the record alone, and everything follows from them."""
    record = tmp_path / "plan.jsonl"
    run = ("run", f"{FOLDER}/plan.sexp", "--quiet")

    recorded = sexplang(*run, "--model", SCRIPT, "--record", record)
    replayed = sexplang(*run, "--model", f"replay:{record}")

    assert (recorded.returncode, recorded.stderr) == (0, "")
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert recorded.stdout == replayed.stdout
    assert "organise/sub-1/sub-1 Completed" in replayed.stdout


def test_what_a_run_costs_in_calls_is_exact():
    """Two proposals that were made, one that was refused, six subtasks, two syntheses: one call
    fewer is too few."""
    run = ("run", f"{FOLDER}/plan.sexp", "--quiet", "--model", SCRIPT)

    assert sexplang(*run, "--budget", "calls=10").returncode == 0
    short = sexplang(*run, "--budget", "calls=9")
    assert short.returncode == 1
    assert "10 asked for" in short.stderr
