"""A PostgreSQL cluster of its own: made in a temporary folder, run by an ordinary user, ended by
its process id."""

import os
import pwd
import shutil
import signal
import subprocess
from contextlib import contextmanager, suppress
from glob import glob
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic, sleep

USER = "sexplang"


def find_programs():
    """The folder of the newest PostgreSQL here, or None."""
    found = sorted(
        glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4])
    )
    on_path = shutil.which("initdb")
    return Path(found[-1]).parent if found else on_path and Path(on_path).parent


@contextmanager
def serve_postgres(*settings):
    """Gives the URL of a server that ends with the block; `settings` are those of its
    configuration, as `name=value`."""
    programs = find_programs()
    assert programs is not None, "PostgreSQL is not installed: apt-get install postgresql"
    folder = Path(mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path is short
    owner = pwd.getpwnam("postgres").pw_uid if os.geteuid() == 0 else None
    if owner is not None:
        os.chown(folder, owner, -1)
    data = folder / "data"
    asked = [programs / "initdb", "-D", data, "-U", USER, "-A", "trust", "-N", "-E", "UTF8"]
    subprocess.run(asked, check=True, capture_output=True, user=owner, cwd="/tmp")
    server = start_postgres(programs, folder, owner, settings)
    try:
        yield f"postgresql://{USER}@/postgres?host={folder}"
    finally:
        if server.poll() is None:
            server.send_signal(signal.SIGINT)  # a fast shutdown
        server.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


def start_postgres(programs, folder, owner, settings=()):
    """Start the server of a cluster; return its process when it takes connections."""
    given = [word for each in settings for word in ("-c", each)]
    with (folder / "log").open("ab") as log:
        server = subprocess.Popen(
            [programs / "postgres", "-D", folder / "data", "-k", folder, "-h", "", *given],
            stdout=log,
            stderr=log,
            user=owner,
            cwd="/tmp",
        )
    until = monotonic() + 30
    while monotonic() < until and server.poll() is None:
        with suppress(FileNotFoundError):
            if "ready" in (folder / "data" / "postmaster.pid").read_text():
                return server
        sleep(0.02)
    server.kill()
    raise AssertionError((folder / "log").read_text())
