"""The processes of the peers that `fleet_throughput.py` and `fleet_leaves.py` start.

    python fleet_peer_workers.py KIND URL PLACES

They run in the environment that has the peers, so they import nothing of the project. Each process
says `ready`, takes lines on stdin and answers each with `done`:

- `insert`: FIRST COUNT, rows with one commit each, in PLACES threads;
- `dbos-runs`: FIRST COUNT, workflows of ten steps, called in PLACES threads: no queue is polled;
- `dbos-leaves`, `pgqueuer-leaves`: a worker, which takes no line;
- `dbos-client`, `pgqueuer-client`: NAME COUNT SECONDS, leaves put into the queue.
"""

import asyncio
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

EFFECTS = 10

POLL = 0.05
"""Seconds between two looks of DBOS at its queue, and the least ones of PgQueuer while all places
are taken. Of 20, 50, 100 and 200 ms this has been the quickest."""

QUEUE = "leaves"

SETTLE = "insert into replies values (%s, now()) on conflict do nothing"


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


def work_dbos_leaves(url, places):
    import psycopg
    from dbos import DBOS

    launch_dbos(url, places)
    idle = [psycopg.connect(url, autocommit=True) for _ in range(places)]

    @DBOS.workflow(name="leaf")
    def leaf(n: int, seconds: float) -> None:
        time.sleep(seconds)
        connection = idle.pop()
        connection.execute(SETTLE, (n,))
        idle.append(connection)

    DBOS.listen_queues([QUEUE])
    DBOS.launch()
    print("ready", flush=True)
    signal.pause()


def put_dbos(url, places):
    from dbos import DBOS, DBOSClient

    launch_dbos(url, places, makes_tables=True)
    DBOS.launch()
    DBOS.register_queue(
        QUEUE,
        worker_concurrency=places,
        polling_interval_sec=POLL,
        on_conflict="always_update",
    )
    DBOS.destroy()  # it would take jobs itself
    client = DBOSClient(system_database_url=url)

    def put(name, count, seconds):
        options = {"queue_name": QUEUE, "workflow_name": "leaf", "app_version": "1"}
        share(lambda n: client.enqueue(options, n, float(seconds)), 0, int(count), places)

    serve(put)


async def open_pgqueuer(url):
    import asyncpg
    from pgqueuer import PgQueuer

    # With psycopg, its statements wait up to a second for its own look at notifications.
    return PgQueuer.from_asyncpg_connection(await asyncpg.connect(url))


async def work_pgqueuer(url, places):
    import json

    import psycopg

    queuer = await open_pgqueuer(url)
    queuer.qm.min_dequeue_poll_interval = timedelta(seconds=POLL)
    other = await psycopg.AsyncConnection.connect(url, autocommit=True)
    free = asyncio.Semaphore(places)

    @queuer.entrypoint("leaf")
    async def leaf(job) -> None:
        n, seconds = json.loads(job.payload)
        async with free:
            await asyncio.sleep(seconds)
            await other.execute(SETTLE, (n,))

    print("ready", flush=True)
    # Ends of jobs are written in batches, and count against the bound until then.
    await queuer.run(batch_size=places, max_concurrent_tasks=4 * places)


async def put_pgqueuer(url, places):
    queuer = await open_pgqueuer(url)
    queries = queuer.qm.queries
    await queries.install()
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        _, count, seconds = line.split()
        payloads = [f"[{n}, {seconds}]".encode() for n in range(int(count))]
        await queries.enqueue(["leaf"] * len(payloads), payloads, [0] * len(payloads))
        print("done", flush=True)


KINDS = {
    "insert": insert,
    "dbos-runs": work_dbos_runs,
    "dbos-leaves": work_dbos_leaves,
    "dbos-client": put_dbos,
    "pgqueuer-leaves": lambda *given: asyncio.run(work_pgqueuer(*given)),
    "pgqueuer-client": lambda *given: asyncio.run(put_pgqueuer(*given)),
}

if __name__ == "__main__":
    kind, url, places = sys.argv[1:]
    KINDS[kind](url, int(places))
