"""A recording says of which version the time zones were that its run used; a replay compares it."""

import asyncio
import json
import logging
import subprocess
import sys

import pytest
from support.command import sexplang as command

import sexplang
from sexplang.package import zones
from sexplang.runtime.journal.recording_reader import read_recording

IN_BERLIN = '(format-date (now) "%H:%M" "Europe/Berlin")'
ANYWHERE = '(format-date (now) "%H:%M" "+02:00")'


def noted(path):
    """The versions that a recording says."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line["zones"] for line in lines if "zones" in line]


@pytest.mark.parametrize(
    ("program", "versions"),
    [
        (IN_BERLIN, [zones.VERSION]),
        (f"[{IN_BERLIN} {IN_BERLIN} (now)]", [zones.VERSION]),
        ('(iso-time 0 "Europe/Berlin")', [zones.VERSION]),
        ('(par (now) (iso-time (now) "Asia/Tokyo"))', [zones.VERSION]),
        ('(attempt (iso-time 0 "Europe/Berln") 1)', [zones.VERSION]),
        (ANYWHERE, []),
        ("(today)", []),
        ('(iso-time "2024-05-01T10:00:00+02:00" "UTC")', []),
    ],
)
def test_a_recording_says_the_version_once_if_a_zone_was_used(program, versions, tmp_path):
    """An unknown name is one of another version, perhaps. Offsets and UTC need no zones."""
    path = tmp_path / "run.jsonl"
    sexplang.run(program, record=path)

    assert versions == noted(path)
    assert read_recording(str(path)).zones == (versions or [None])[0]


def test_the_command_says_it_too(tmp_path):
    path = tmp_path / "run.jsonl"
    done = command("run", "-e", IN_BERLIN, "--record", path)

    assert (0, [zones.VERSION]) == (done.returncode, noted(path)), done.stderr
    again = command("run", "-e", IN_BERLIN, "--model", f"replay:{path}")
    assert (done.stdout, "") == (again.stdout, again.stderr)


def test_a_replay_with_other_zones_warns(tmp_path, monkeypatch, caplog):
    path = tmp_path / "run.jsonl"
    said = sexplang.run(IN_BERLIN, record=path)
    with caplog.at_level(logging.WARNING, "sexplang"):
        assert said == sexplang.run(IN_BERLIN, model=f"replay:{path}")
    assert [] == caplog.messages
    monkeypatch.setattr(zones, "VERSION", "2099z")
    with caplog.at_level(logging.WARNING, "sexplang"):
        assert said == sexplang.run(IN_BERLIN, model=f"replay:{path}")

    (words,) = caplog.messages
    assert "2099z" in words and "run.jsonl: its run used the time zones" in words


def test_a_replay_of_a_run_without_zones_says_nothing(tmp_path, monkeypatch, caplog):
    path = tmp_path / "run.jsonl"
    sexplang.run(ANYWHERE, record=path)
    monkeypatch.setattr(zones, "VERSION", "2099z")
    with caplog.at_level(logging.WARNING, "sexplang"):
        sexplang.run(ANYWHERE, model=f"replay:{path}")

    assert [] == caplog.messages


def test_each_of_two_runs_at_the_same_time_says_its_own(tmp_path):
    """In one loop, side by side; and a run inside of an effect of another."""

    async def wait():
        await asyncio.sleep(0.01)
        return 0

    async def both():
        await asyncio.gather(
            sexplang.arun(
                '(iso-time (wait) "Asia/Tokyo")',
                effects={"wait": wait},
                record=tmp_path / "zoned.jsonl",
            ),
            sexplang.arun("(wait)", effects={"wait": wait}, record=tmp_path / "plain.jsonl"),
        )
        # In a loop that runs already: `run` has a thread of its own.
        sexplang.run(
            '(iso-time (wait) "Asia/Tokyo")',
            effects={"wait": wait},
            record=tmp_path / "thread.jsonl",
        )

    asyncio.run(both())
    sexplang.run(
        "(inner)",
        effects={"inner": lambda: sexplang.run(IN_BERLIN)},
        record=tmp_path / "outer.jsonl",
    )

    assert [zones.VERSION] == noted(tmp_path / "zoned.jsonl") == noted(tmp_path / "thread.jsonl")
    assert [] == noted(tmp_path / "plain.jsonl") == noted(tmp_path / "outer.jsonl")


def test_a_run_without_zones_does_not_load_them(tmp_path):
    """Neither does its replay."""
    program = f"""
import sys, sexplang
sexplang.run("(now)", record={str(tmp_path / "run.jsonl")!r})
sexplang.run("(now)", model={"replay:" + str(tmp_path / "run.jsonl")!r})
assert "tzdata" not in sys.modules and "sexplang.package.zones" not in sys.modules
"""

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert 0 == done.returncode, done.stderr


def test_the_report_of_a_run_with_zones_is_made(tmp_path):
    path = tmp_path / "run.jsonl"
    sexplang.run(IN_BERLIN, record=path)
    done = command("runs", "report", path)

    assert 0 == done.returncode, done.stderr
