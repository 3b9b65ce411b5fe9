"""What the wheel holds: the examples as the checkout has them, and a description without dead
links. `.ci/wheel` installs it and runs what is in it."""

import re
import subprocess
import sys
from zipfile import ZipFile

import pytest
from support.markdown import ROOT

from sexplang.hosts.projects.catalogue import list_examples, list_starters


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout, in which a run has left something behind."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with ZipFile(next(place.glob("*.whl"))) as opened:
        yield opened


def test_every_example_and_starter_ships_and_nothing_else(wheel):
    """As the command finds them, so that it finds the same in the wheel."""
    folder = "sexplang/_data/"
    found = {name for name in wheel.namelist() if name.startswith(f"{folder}examples/")}
    shipped = [path for each in list_examples() for path in each.files.values()]
    shipped += [path for each in list_starters() for path in each.files.values()]
    alone = {f"{folder}examples/README.md"}

    assert found - alone == {path.replace(f"{ROOT}/", folder) for path in shipped}
    assert not [name for name in found if "__pycache__" in name]


def test_the_description_has_no_link_that_leads_nowhere(wheel):
    """On a package index there is no folder for a relative link to lead to."""
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    text = wheel.read(name).decode()

    assert "\n# sexplang\n" in text and "Content-Type: text/markdown" in text
    assert re.findall(r"\]\((?!https?:)[^)]*\)", text) == []
    assert "![" not in text
