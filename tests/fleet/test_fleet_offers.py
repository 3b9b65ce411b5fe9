"""Requests of runs that workers leave to others, by the command."""

import json

import pytest
from support.command import sexplang as command
from support.wide_server import WideServer

pytestmark = pytest.mark.postgres

WIDE = '(length (par-map (lambda (n) (run-script "sleep" ["0.2"])) (range 0 24)))'


def settlers(fleet):
    """The processes that have performed requests of others, and how many."""
    found = fleet.store.db.execute(
        "select split_part(settler, ':', 2)::int, count(*) from leaves "
        "where settler is not null group by 1"
    )
    return dict(found.fetchall())


def test_a_wide_run_is_spread_over_workers(fleet):
    """The driver performs what it has places for, and leaves the rest to all of them."""
    workers = [
        fleet.begin("--places", "2", "--allow-run", "sleep", "--offers", "script") for _ in range(3)
    ]
    fleet.submit(WIDE, "r", "--allow-run", "sleep")
    run = fleet.wait_for_state("r")
    found = settlers(fleet)

    assert ("24", 24) == (run.value, run.replies)
    assert {each.pid for each in workers} >= found.keys() and len(found) > 1
    assert 12 < sum(found.values()) < 24


def test_a_run_may_no_more_elsewhere(fleet):
    """A script that the run may not run is left to nobody, though all workers may run it."""
    fleet.begin(
        *("--places", "1", "--allow-run", "sleep", "--allow-run", "echo", "--offers", "script")
    )
    denied = '(par-map (lambda (n) (attempt (run-script "echo" ["tea"]) "denied")) (range 0 4))'
    fleet.submit(denied, "r", "--allow-run", "sleep")
    run = fleet.wait_for_state("r")

    assert '["denied" "denied" "denied" "denied"]' == run.value and {} == settlers(fleet)


def test_a_driver_lacks_what_another_worker_has(fleet):
    """It leaves all such requests to others, and says for whom they wait."""
    fleet.begin("--allow-run", "sleep", "--leaves", "script")
    fleet.submit(WIDE, "r", "--allow-run", "sleep")
    said = "is left to a worker with --offers script"
    fleet.wait_for(lambda: said in fleet.command("runs", "show", "r").stdout)
    other = fleet.begin("--places", "8", "--allow-run", "sleep", "--offers", "script")

    assert "24" == fleet.wait_for_state("r").value
    assert {other.pid: 24} == settlers(fleet)


def test_a_worker_without_a_key_lacks_the_model(fleet):
    """It leaves the run to a worker that has the key, or the calls to one that offers them."""
    fleet.submit('(defatom say (instructions "Hello")) (say)', "r")
    (fleet.folder / "replies.json").write_text('[{"contains": "Hello", "reply": "Good day."}]')
    fleet.begin("--model", "anthropic:claude-sonnet-5-5", ANTHROPIC_API_KEY="")
    said = "for its task say, anthropic:claude-sonnet-5-5 needs a key"
    fleet.wait_for(lambda: said in fleet.command("runs", "list").stdout)
    assert "submitted" == fleet.store.find("r").state
    fleet.begin("--model", f"scripted:{fleet.folder / 'replies.json'}")

    assert '"Good day."' == fleet.wait_for_state("r").value


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--offers", "tool:x"), 2, "`tool:x` names nothing that a worker performs"),
        (("--model", "local", "--leaves", "model:x"), 2, "has no model of this name"),
        (("--offers", "tea"), 2, "`tea` names nothing that a worker performs"),
        (("--offers", "script"), 2, "grants no script"),
        (("--leaves", "script"), 2, "grants no script"),
        (("--leaves", "model:local", "--offers", "model:local"), 2, "or leaves it to others"),
        (("--fleet-limit", "m=tea:1"), 2, "is no limit of a model"),
        (("--offers", "script", "--once"), 2, "performs itself what its runs ask"),
    ],
)
def test_a_wrong_offer_is_one_sentence(fleet, words, status, said):
    done = fleet.command("worker", *words)

    assert status == done.returncode and said in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_on_a_file_there_is_nothing_to_offer(tmp_path):
    done = command("worker", "--store", str(tmp_path / "x.db"), "--offers", "script")

    assert 2 == done.returncode and "--offers" in done.stderr


CALL = '(model {{messages: [{{role: "user" content: (str n)}}]}})'

CALLS = f"(par-map (lambda (n) {CALL}) (range 0 {{}}))"


def test_a_model_has_a_limit_over_all_workers(fleet):
    with WideServer(latency=0.2) as server:
        model = f"{server.url}#m"
        given = ("--places", "5", "--model", model, "--fleet-limit", f"{model}=in_flight:4")
        for _ in range(3):
            fleet.begin(*given)
        fleet.submit(f"(length {CALLS.format(24)})", "r", "--parallel", "100")
        run = fleet.wait_for_state("r")
        counts = server.counts()

    assert "24" == run.value and 24 == counts["distinct"] == counts["requests"]
    assert 1 < counts["most"] <= 4 and 24 == sum(settlers(fleet).values())


def test_the_driver_of_a_wide_run_is_killed(fleet):
    """Another worker takes the replies that are there, and waits for the others. What may have been
    performed twice is told."""
    count = 60
    with WideServer(latency=0.2) as server:
        model = f"{server.url}#m"
        given = ("--places", "3", "--model", model, "--offers", f"model:{model}")
        for _ in range(3):
            fleet.begin(*given)
        fleet.submit(f"(length {CALLS.format(count)})", "r", "--parallel", "100")
        fleet.wait_for(lambda: sum(settlers(fleet).values()) >= 10)
        driver = next(each for each in fleet.processes if "run r goes on" in fleet.said(each))
        driver.kill()
        run = fleet.wait_for_state("r")
        counts = server.counts()
    shown = json.loads(fleet.command("runs", "show", "r", "--json").stdout)
    model_rows = [each for each in shown["rows"] if each["operation"] == "model"]

    assert str(count) == run.value and count == counts["distinct"] == len(model_rows)
    assert 0 <= counts["requests"] - count <= len(shown["doubts"])
    assert [] == shown["carried"]
