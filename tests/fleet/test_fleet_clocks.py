"""Leases, due times and signs of life go by the clock of the database alone.

The statements are read in the sources and in the log of a server. Then workers whose clocks are
wrong by hours drive runs.
"""

import ast
import re
from importlib.resources import files
from pathlib import Path
from time import sleep, time

import pytest
from support.fleet_workers import LEASE, ROOT, serve_fleet
from support.postgres_server import serve_postgres

from sexplang.runtime.fleet import pressure

SHIFTED = f"{ROOT}:{Path(__file__).resolve().parents[1] / 'support' / 'shifted'}"

HOURS = 5 * 3600.0

COLUMNS = (
    *("until", "settled", "delivered", "shut", "ends", "at", "scheduled_at", "due"),
    *("last_heartbeat", "heartbeat_updated_at"),
)
"""The columns whose times decide something."""

TIMED = re.compile(rf"\b({'|'.join(COLUMNS)})(?:\[[^\]]*\])?\s*(<=|>=|<>|=|<|>)\s*(.{{0,60}})")
"""A column that is compared or set, and what stands behind it."""

CLOCK = r"\(?(now\(\)|clock_timestamp\(\)|statement_timestamp\(\)|CLOCK|extract\(epoch from )"

ALLOWED = (
    CLOCK,
    r"\{now\} ",  # `format` puts the clock of the database there
    r"greatest\(shut, (CLOCK|extract)",
    r"null\b",
    r"excluded\.",
    r"\(select coalesce\(array_agg\(until ",  # of the same row
    r"floor\(extract\(epoch from ",
)

GIVEN = {
    "update runs set state = ?, due = ?, replies = ?, tokens = ? where n = ?": "due",
}
"""The time for which a program waits is the program's."""


def list_texts(path):
    """The texts of a module. A clock in an f-string is CLOCK, something else is `{…}`."""

    def read(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.JoinedStr):
            return "".join(map(read, node.values))
        if isinstance(node, ast.FormattedValue):
            return "CLOCK" if re.search(r"(\.clock|^_NOW)$", ast.unparse(node.value)) else "{…}"
        return None

    found, inner = [], set()
    for node in ast.walk(ast.parse(path.read_text())):
        text = None if id(node) in inner else read(node)
        if text is not None:
            inner |= {id(each) for each in ast.walk(node)}
            found.append(text)
    return found


def list_statements():
    """All statements that the fleet may send: of the sources, and of the engine's package."""
    root = ROOT / "sexplang"
    paths = [
        *(root / "runtime" / "fleet").glob("*.py"),
        *(root / "runtime" / "journal").glob("*.py"),
        *(root / "runtime" / "journal" / "databases").glob("*.py"),
        *(root / "hosts" / "fleet").glob("*.py"),
        root / "runs" / "submitted_run.py",
    ]
    texts = [text for path in paths for text in list_texts(path)]
    texts += [each for name, each in vars(pressure).items() if name.isupper() and type(each) is str]
    words = re.compile(r"\b(select|update|insert|delete)\b.*\b(from|set|into|where)\b", re.S)
    return [" ".join(each.split()) for each in texts if words.search(each)]


def test_statements_of_the_sources_use_the_clock_of_the_database():
    statements = list_statements()
    timed = [(each, found) for each in statements for found in TIMED.finditer(each)]

    assert len(timed) > 25, len(timed)
    for statement, found in timed:
        is_given = GIVEN.get(statement) == found[1]
        assert is_given or any(re.match(each, found[3]) for each in ALLOWED), found[0]


def test_statements_of_the_engine_use_the_clock_of_the_database():
    """Those of procrastinate: its queries, and the functions of its schema."""
    folder = files("procrastinate") / "sql"
    for name in ("queries.sql", "schema.sql"):
        text = (folder / name).read_text()
        found = re.findall(r"\b(?:scheduled_at|last_heartbeat)\s*(?:<=|>=|<|>|=)\s*(\S+)", text)
        clocks = re.compile(r"now\(\)|\w*scheduled_at|null", re.I)
        wrong = [each for each in found if not clocks.match(each)]
        assert set(wrong) <= {"retry_at,"}, (
            name,
            wrong,
        )  # of an unused `retry`


ONLY_TOLD = re.compile(
    r"insert into runs \(id, project, name, command, header, state, began|"
    r"update runs set state = \$1, ended = \$2|insert into questions|update questions"
)
"""Statements with times that people are told, and by which nothing is decided."""


@pytest.mark.postgres
def test_no_statement_of_a_fleet_has_a_clients_clock(tmp_path):
    """The processes of a fleet live in another century. A server notes what they send."""
    century = 100 * 365.25 * 86400
    given = {"PYTHONPATH": SHIFTED, "CLOCK_SHIFT": str(century)}
    log = "log_line_prefix=", "log_statement=all", "log_min_duration_statement=-1"
    with serve_postgres("fsync=off", *log) as url:
        with serve_fleet(url, tmp_path) as fleet:
            fleet.submit("(let ((at (now))) (begin (sleep 0.2) (- (now) at)))", "r")
            fleet.submit('(str (ask-user "Pay?"))', "q")
            fleet.submit(f"(wait-until {time() + 3000})", "w")
            words = ("--allow-run", "sh")
            script = '(par-map (lambda (n) (run-script "sh" ["-c" "echo 1"])) (range 5))'
            fleet.submit(script, "s", *words)
            fleet.begin("--offers", "script", "--places", "2", *words, **given)
            for id, state in (("r", "done"), ("q", "waiting"), ("w", "waiting"), ("s", "done")):
                fleet.wait_for_state(id, state)
            sleep(LEASE)  # signs of life, and a look at what is owed
        told = (Path(url.partition("host=")[2]) / "log").read_text()
    parts = re.findall(
        r"(?:execute \S+|statement): (.*?)\n(?:DETAIL:  (.*?)\n)?(?=LOG|ERROR|$)", told, re.S
    )
    sent = " ".join(each for each, _ in parts)

    assert "update leaves set" in sent and "procrastinate_workers" in sent and "late" in told
    shifted = 0
    for statement, given in parts:
        times = [float(each) for each in re.findall(r"'(\d{10}(?:\.\d+)?)'", given)]
        theirs = [each for each in times if abs(each - time() - century) < 1e7]
        theirs += re.findall(r"'21\d\d-\d\d-\d\d", given)
        shifted += len(theirs)
        assert not theirs or ONLY_TOLD.match(" ".join(statement.split())), (statement, given)
    assert shifted, "the clocks were not wrong"


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.parametrize("shift", [-HOURS, HOURS], ids=["behind", "ahead"])
def test_a_wrong_clock_neither_loses_nor_takes_a_run(fleet, shift):
    """A worker drives a run for longer than a lease, while one with a wrong clock looks on; and the
    other way round."""
    given = {"PYTHONPATH": SHIFTED, "CLOCK_SHIFT": str(shift)}
    fleet.submit('(import "tools.py") (list (hold "a") (fold + 0 (map step (range 1 11))))', "a")
    fleet.begin("--places", "1")
    fleet.wait_for(lambda: fleet.log())
    fleet.begin("--places", "1", **given)
    fleet.submit('(import "tools.py") (list (hold "b") (fold + 0 (map step (range 1 11))))', "b")
    fleet.wait_for(lambda: len(fleet.log()) == 2)
    sleep(2.5 * LEASE)
    for name in "ab":
        (fleet.folder / f"go {name}").touch()
    for name in "ab":
        assert f'["{name}" 550]' == fleet.wait_for_state(name).value

    begun = fleet.log()
    assert 22 == len(begun) and 2 == len({pid for _, pid in begun}), begun


@pytest.mark.postgres
def test_a_wrong_clock_wakes_no_timer_early_or_late(fleet):
    now = time()
    fleet.submit(f"(wait-until {now + 3600})", "later")
    fleet.begin(PYTHONPATH=SHIFTED, CLOCK_SHIFT=str(HOURS))
    fleet.wait_for_state("later", "waiting")
    sleep(LEASE)

    assert now + 3600 == fleet.wait_for_state("later", "waiting").due


@pytest.mark.postgres
def test_a_clock_that_is_behind_holds_no_timer_up(fleet):
    now = time()
    fleet.submit(f"(begin (wait-until {now + 3}) (now))", "soon")
    fleet.submit("(begin (wait-until (+ (now) 2)) (now))", "own")
    fleet.begin(PYTHONPATH=SHIFTED, CLOCK_SHIFT=str(-HOURS))

    assert 0 <= float(fleet.wait_for_state("soon").value) - now - 3 < 20
    assert 0 <= float(fleet.wait_for_state("own").value) - now - 2 < 20
