"""Draws `terminal.svg`, beside this file: `python docs/pictures/terminal.py`.

It saves the program of the README in an empty folder, runs the commands below there, one of them
with the local model, and draws what comes out. The seconds are those of the machine that draws.
"""

import os
import re
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "terminal.svg"
README = HERE.parents[1] / "README.md"
COMMANDS = (
    "sexplang check reviews.sexp",
    "sexplang run reviews.sexp --model local",
    "sexplang run -e '(map sqare [1 2 3])'",
)


def save_program(folder: Path) -> None:
    """Write the program of the README."""
    found = re.search(
        r"^```sexp (reviews\.sexp)\n(.*?)^```", README.read_text("utf-8"), re.S | re.M
    )
    assert found
    (folder / found[1]).write_text(found[2], encoding="utf-8")


def output_of(command: str, folder: Path) -> str:
    """Run a command, and return what it writes."""
    words = [sys.executable, "-m", *shlex.split(command)]
    environment = os.environ | {"SEXPLANG_STORE": "", "NO_COLOR": "1"}
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def colour(line: str) -> Text:
    """Colour a line as an editor would."""
    text = Text(line)
    text.highlight_regex(r"^error\[[^]]*\]", "bold red")
    text.highlight_regex(r"\^+.*$", "red")
    text.highlight_regex(r"^  = \w+:", "cyan")
    return text


def draw() -> str:
    """Return the picture."""
    console = Console(record=True, width=92, file=StringIO(), force_terminal=True)
    with TemporaryDirectory() as name:
        save_program(Path(name))
        for command in COMMANDS:
            console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
            for line in output_of(command, Path(name)).splitlines():
                console.print(colour(line))
            console.print()
    svg = console.export_svg(title="reviews.sexp", theme=MONOKAI, unique_id="terminal")
    return without_hosts(svg)


def without_hosts(svg: str) -> str:
    """Take out the fonts that would be fetched: the reader's own monospaced font is used."""
    bare = re.sub(r"@font-face\s*\{.*?\}\s*", "", svg, flags=re.S)
    bare = re.sub(r"<!--.*?-->\s*", "", bare, flags=re.S)
    return bare.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
