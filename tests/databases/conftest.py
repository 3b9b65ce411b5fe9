"""The databases that hold a store of runs: a file, and a server of its own."""

import psycopg
import pytest
from support.postgres_server import serve_postgres


@pytest.fixture(scope="session")
def postgres():
    """The URL of a server with an empty database."""
    with serve_postgres("fsync=off") as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def address(request, tmp_path):
    """The address of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'runs.db'}"
    url = request.getfixturevalue("postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("drop schema if exists sexplang cascade")
    return url
