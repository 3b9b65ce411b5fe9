"""Modules of the package are found by their names, and are what Python would have found."""

import os
import subprocess
import sys
from importlib.util import module_from_spec
from pathlib import Path

import pytest

from sexplang.loading import Finder

ROOT = Path(__file__).resolve().parents[1]

WATCH = """
import sys
sys.argv = ["sexplang", "run", "-e", "(+ 1 2)"]
if {python}:
    import sexplang.loading
    sexplang.loading.find_quickly = lambda: None
from sexplang.__main__ import main
try:
    main()
except SystemExit:
    pass
for name in sorted(sys.modules):
    module = sys.modules[name]
    if name.startswith("sexplang."):
        spec = module.__spec__
        print(name, module.__file__, module.__cached__, module.__package__, spec.origin,
            spec.cached, spec.has_location, spec.submodule_search_locations,
            getattr(module, "__path__", None), spec.loader.is_package(name),
            len(spec.loader.get_source(name)))
print("sexplang.loading" in [each.__module__ for each in sys.meta_path])
"""


def started(python, *flags, **more):
    done = subprocess.run(
        [sys.executable, *flags, "-c", WATCH.format(python=python)],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | more,
        capture_output=True,
        text=True,
        check=True,
    )
    *modules, installed = done.stdout.splitlines()
    return modules, installed == "True"


def loaded(folder, name="sexplang.made"):
    spec = Finder.find_spec(name, [str(folder)])
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_modules_are_what_python_would_have_found():
    """Their files, their packages, their sources."""
    ours, installed = started(False)
    python, other = started(True)

    assert (installed, other) == (True, False)
    assert len(ours) > 100 and ours == python


@pytest.mark.parametrize(
    ("flags", "more"), [((), {"PYTHONPYCACHEPREFIX": "."}), (("-O",), {})], ids=["prefix", "-O"]
)
def test_what_is_compiled_in_another_way_is_left_to_python(tmp_path, flags, more):
    """Where compiled modules lie elsewhere, or are called something else."""
    more = {name: str(tmp_path) for name in more}

    assert not started(False, *flags, **more)[1]


def test_a_source_that_changed_is_compiled_again(tmp_path):
    """As is one whose compiled form is broken, or of another Python."""
    source = tmp_path / "made.py"
    source.write_text("x = 1\n")
    os.utime(source, (1, 1))
    assert loaded(tmp_path).x == 1
    source.write_text("x = 2\n")
    os.utime(source, (2, 2))
    assert loaded(tmp_path).x == 2
    source.write_text("x = 33\n")
    os.utime(source, (2, 2))
    assert loaded(tmp_path).x == 33

    for compiled in tmp_path.glob("__pycache__/*.pyc"):
        compiled.write_bytes(b"\0" * 20)
    assert loaded(tmp_path).x == 33


def test_what_was_compiled_is_read(tmp_path, monkeypatch):
    """And not compiled again."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    source = tmp_path / "made.py"
    source.write_text("x = 1\n")
    os.utime(source, (1, 1))
    loaded(tmp_path)
    source.write_text("x = 2\n")
    os.utime(source, (1, 1))

    assert loaded(tmp_path).x == 1


def test_packages_are_found_and_strangers_are_not(tmp_path):
    """A folder with `__init__.py` is a package; other names are nobody's."""
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "__init__.py").write_text("y = 5\n")
    room = loaded(tmp_path, "sexplang.room")

    assert (room.y, room.__path__) == (5, [str(tmp_path / "room")])
    assert Finder.find_spec("json", None) is None
    assert Finder.find_spec("json.made", [str(tmp_path)]) is None
    assert Finder.find_spec("sexplang.absent", [str(tmp_path)]) is None
