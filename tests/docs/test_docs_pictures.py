"""The pictures of `docs/` are those that their scripts draw."""

import re
import runpy

import pytest
from support.markdown import ROOT

TERMINAL = runpy.run_path(str(ROOT / "docs/pictures/terminal.py"))
DRAWN = runpy.run_path(str(ROOT / "docs/pictures/diagrams.py"))


@pytest.mark.parametrize("name", DRAWN["PICTURES"])
def test_a_diagram_is_what_its_script_draws(name):
    drawn = DRAWN["PICTURES"][name]().svg()

    assert drawn == (ROOT / f"docs/pictures/{name}.svg").read_text(encoding="utf-8")


def _said(svg):
    """The texts of a picture, without the seconds of the model."""
    return re.sub(r"[\d.]+&#160;seconds", "", svg)


def test_the_terminal_shows_the_commands_and_fetches_nothing():
    """Fonts and styles are in the picture."""
    svg = TERMINAL["PICTURE"].read_text(encoding="utf-8")

    assert set(re.findall(r"https?://[^\"'\s<)]+", svg)) == {"http://www.w3.org/2000/svg"}
    for command in TERMINAL["COMMANDS"]:
        assert command.replace("'", "&#x27;").replace(" ", "&#160;") in svg


@pytest.mark.long
def test_the_terminal_is_what_its_script_draws():
    """The local model says the same again."""
    assert _said(TERMINAL["draw"]()) == _said(TERMINAL["PICTURE"].read_text(encoding="utf-8"))
