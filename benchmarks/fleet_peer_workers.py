"""The processes of the peers that `fleet_throughput.py` starts.

    python fleet_peer_workers.py KIND URL PLACES

They run in the environment that has the peers, so they import nothing of the project. Each process
says `ready`, takes lines on stdin and answers each with `done`:

- `insert`: FIRST COUNT, rows with one commit each, in PLACES threads;
- `dbos-runs`: FIRST COUNT, workflows of ten steps, called in PLACES threads: no queue is polled;
- `dbos-client`: makes the tables of DBOS.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

EFFECTS = 10


def serve(answer):
    """Answer each line of stdin by a function of its words."""
    print("ready", flush=True)
    for line in sys.stdin:
        answer(*line.split())
        print("done", flush=True)


def share(function, first, count, places):
    """Call a function with each of so many numbers, in threads."""
    numbers = range(first, first + count)

    def go(at):
        for n in numbers[at::places]:
            function(n)

    with ThreadPoolExecutor(places) as pool:
        list(pool.map(go, range(places)))


def insert(url, places):
    import psycopg

    made = [psycopg.connect(url, autocommit=True) for _ in range(places)]
    data = b"x" * 200

    def fill(first, count):
        def go(at):
            for n in range(first, first + count)[at::places]:
                made[at].execute("insert into bare values (%s, %s)", (n, data))

        with ThreadPoolExecutor(places) as pool:
            list(pool.map(go, range(places)))

    serve(lambda first, count: fill(int(first), int(count)))


def launch_dbos(url, places, **more):
    from dbos import DBOS

    config = {
        "name": "fleet",
        "system_database_url": url,
        "log_level": "ERROR",
        "application_version": "1",
        "sys_db_pool_size": 2 * places,
        "max_executor_threads": 4 * places,
        "run_migrations": more.pop("makes_tables", False),
        **more,
    }
    DBOS(config=config)
    return DBOS


def work_dbos_runs(url, places):
    from dbos import DBOS, SetWorkflowID

    launch_dbos(url, places)

    @DBOS.step()
    def plain(n: int) -> int:
        return n

    @DBOS.workflow()
    def walk(first: int) -> int:
        return sum(plain(first + n) for n in range(EFFECTS))

    DBOS.launch()

    def run(n):
        with SetWorkflowID(f"run-{n}"):
            assert walk(1) == sum(range(1, EFFECTS + 1))

    serve(lambda first, count: share(run, int(first), int(count), places))


def make_dbos_tables(url, places):
    from dbos import DBOS

    launch_dbos(url, places, makes_tables=True)
    DBOS.launch()
    serve(lambda *words: None)


KINDS = {
    "insert": insert,
    "dbos-runs": work_dbos_runs,
    "dbos-client": make_dbos_tables,
}

if __name__ == "__main__":
    kind, url, places = sys.argv[1:]
    KINDS[kind](url, int(places))
