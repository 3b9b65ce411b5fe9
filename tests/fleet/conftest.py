"""A server with an empty database, and an engine of a store in it."""

import os
import pwd
import shutil
import signal
import subprocess
from pathlib import Path
from tempfile import mkdtemp

import psycopg
import pytest
from support.fleet_workers import serve_fleet
from support.postgres_server import USER, find_programs, serve_postgres, start_postgres

from sexplang.runtime.fleet import open_engine
from sexplang.runtime.journal.run_store import open_store


@pytest.fixture(scope="session")
def postgres():
    """The URL of a server."""
    with serve_postgres("fsync=off") as url:
        yield url


@pytest.fixture
def new_address(postgres):
    """Empties the database, and gives its URL."""

    def empty():
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("drop schema if exists sexplang cascade")
        return postgres

    return empty


@pytest.fixture
def address(new_address):
    """The URL of an empty database."""
    return new_address()


@pytest.fixture
def store(address):
    opened = open_store(address)
    yield opened
    opened.close()


@pytest.fixture
def engine(store, address):
    return open_engine(store.db, address)


@pytest.fixture
def fleet(address, tmp_path):
    """A store on a server, and a way to begin workers of it."""
    with serve_fleet(address, tmp_path) as begun:
        yield begun


@pytest.fixture
def cluster():
    """Functions that begin and end a server with the same data."""
    programs, folder = find_programs(), Path(mkdtemp(prefix="pg-", dir="/tmp"))
    owner = pwd.getpwnam("postgres").pw_uid if os.geteuid() == 0 else None
    if owner is not None:
        os.chown(folder, owner, -1)
    made = [programs / "initdb", "-D", folder / "data", "-U", USER, "-A", "trust", "-N"]
    subprocess.run([*made, "-E", "UTF8"], check=True, capture_output=True, user=owner, cwd="/tmp")
    running = []

    def begin():
        running.append(start_postgres(programs, folder, owner, ["fsync=off"]))
        return f"postgresql://{USER}@/postgres?host={folder}"

    def end(how=signal.SIGINT):
        server = running.pop()
        server.send_signal(how)
        server.wait(timeout=30)

    yield begin, end
    if running:
        end()
    shutil.rmtree(folder, ignore_errors=True)
