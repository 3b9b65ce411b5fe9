"""The pictures of `docs/` are those that their scripts draw."""

import runpy

import pytest
from support.markdown import ROOT

DRAWN = runpy.run_path(str(ROOT / "docs/pictures/diagrams.py"))


@pytest.mark.parametrize("name", DRAWN["PICTURES"])
def test_a_diagram_is_what_its_script_draws(name):
    drawn = DRAWN["PICTURES"][name]().svg()

    assert drawn == (ROOT / f"docs/pictures/{name}.svg").read_text(encoding="utf-8")
