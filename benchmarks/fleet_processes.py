"""What the benchmarks of the fleet share: processes that answer lines, the processor time of a
server, the rows of its tables, and the interpreter that has the peers."""

import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from urllib.parse import parse_qs, urlsplit

import psycopg

WORKERS = Path(__file__).with_name("fleet_peer_workers.py")

PACKAGES = ("asyncpg", "dbos", "pgqueuer", "psycopg[binary]")

_TICK = os.sysconf("SC_CLK_TCK")


def find_peers(words):
    """The interpreter that has DBOS and PgQueuer: `peers=PYTHON`, SEXPLANG_PEERS, or this one; None
    if it lacks them."""
    given = [word[6:] for word in words if word.startswith("peers=")]
    python = (*given, os.environ.get("SEXPLANG_PEERS"), sys.executable)
    found = next(each for each in python if each)
    asked = [found, "-c", "import asyncpg, dbos, pgqueuer, psycopg"]
    if subprocess.run(asked, capture_output=True).returncode == 0:
        return found
    print(
        f"{found} lacks the peers, which are left out. An environment of their own has them:\n"
        f"    python -m venv VENV; VENV/bin/pip install {' '.join(map(repr, PACKAGES))}\n"
        "    and then the word peers=VENV/bin/python, or SEXPLANG_PEERS",
        file=sys.stderr,
        flush=True,
    )
    return None


def read_number(words, name, default):
    return next((int(each.split("=")[1]) for each in words if each.startswith(f"{name}=")), default)


class Peer:
    """A process of a peer, which answers lines."""

    def __init__(self, python, kind, url, places):
        words = [python, str(WORKERS), kind, url, str(places)]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pid, self.kind = self.process.pid, kind

    def wait_for(self, word):
        found = self.process.stdout.readline().strip()
        assert found == word, f"{self.kind}: {found or 'it has ended'}"

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.wait()


@contextmanager
def start_peers(count, python, kind, url, places):
    """Processes of a peer, killed in the end."""
    started = [Peer(python, kind, url, places) for _ in range(count)]
    try:
        for each in started:
            each.wait_for("ready")
        yield started
    finally:
        for each in started:
            each.end()


def make_database(url):
    """Make a database for the peers on a server; return its URL."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create database peers")
    return url.replace("/postgres?", "/peers?")


def find_server(url):
    """The process id of a server, from the URL of its socket."""
    folder = parse_qs(urlsplit(url).query)["host"][0]
    return int(Path(folder, "data", "postmaster.pid").read_text().split("\n")[0])


def processor_seconds(pids):
    """The processor time of processes with their children, those that have ended too."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            path = Path(f"/proc/{pid}")
            fields = path.joinpath("stat").read_text().rsplit(")", 1)[1].split()
            total += sum(map(int, fields[11:15])) / _TICK
            children = path.joinpath("task", str(pid), "children").read_text().split()
            total += processor_seconds(map(int, children))
    return total


def count_rows(url, schema):
    """The rows and bytes of each table of a schema."""
    with psycopg.connect(url, autocommit=True) as connection:
        named = connection.execute(
            "select quote_ident(schemaname) || '.' || quote_ident(tablename), tablename "
            "from pg_tables where schemaname = %s",
            [schema],
        ).fetchall()
        return {
            name: connection.execute(
                f"select count(*), pg_total_relation_size('{table}') from {table}"
            ).fetchone()
            for table, name in named
        }


def subtract(after, before):
    """The rows and bytes that came to each table."""
    nothing = (0, 0)
    found = {
        name: tuple(one - other for one, other in zip(pair, before.get(name, nothing), strict=True))
        for name, pair in after.items()
    }
    return {name: pair for name, pair in found.items() if any(pair)}


def log_position(url):
    """The bytes that the server has written to its log."""
    with psycopg.connect(url, autocommit=True) as connection:
        asked = "select pg_current_wal_insert_lsn() - '0/0'"
        return int(connection.execute(asked).fetchone()[0])


def tell(found, form="{:.2f}", worst=max):
    """The median and the worst of some numbers."""
    return f"{form.format(median(found))} ({form.format(worst(found))})"
