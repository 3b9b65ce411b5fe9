"""Draws the diagrams of `docs/explanation`, beside this file: `python docs/pictures/diagrams.py`.

Each is a card with a background of its own, in light and in dark colours as the reader's system
says, so that it can be read on any page.
"""

from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent

STYLE = """
.card { fill: #fdfdfb; stroke: #d5d5cf }
.box { fill: #ffffff; stroke: #4b5563; stroke-width: 1.5 }
.asks { fill: #e3eefc; stroke: #2463a8; stroke-width: 1.5 }
.gives { fill: #e4f5e6; stroke: #2b7a3b; stroke-width: 1.5 }
.stops { fill: #fdebe4; stroke: #b1441c; stroke-width: 1.5 }
.empty { fill: none; stroke: #6b7280; stroke-width: 1.5; stroke-dasharray: 5 4 }
.line { fill: none; stroke: #4b5563; stroke-width: 1.5 }
.up { fill: none; stroke: #2463a8; stroke-width: 2 }
.down { fill: none; stroke: #2b7a3b; stroke-width: 2 }
.head { fill: #4b5563 } .head-up { fill: #2463a8 } .head-down { fill: #2b7a3b }
text { fill: #1f2937; font: 14px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
.small { font-size: 12.5px; fill: #4b5563 }
.name { font-weight: 600 }
.code { font: 12.5px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
@media (prefers-color-scheme: dark) {
  .card { fill: #1b1f24; stroke: #3a414a }
  .box { fill: #262c33; stroke: #a9b4c0 }
  .asks { fill: #17324f; stroke: #7fb2ee }
  .gives { fill: #173d22; stroke: #7fd093 }
  .stops { fill: #4a2417; stroke: #f0a07c }
  .empty { stroke: #8b97a4 }
  .line { stroke: #a9b4c0 } .up { stroke: #7fb2ee } .down { stroke: #7fd093 }
  .head { fill: #a9b4c0 } .head-up { fill: #7fb2ee } .head-down { fill: #7fd093 }
  text { fill: #e8ecf0 } .small { fill: #b6c0cb }
}
"""


class Picture:
    """A drawing that grows; `title` and `words` are for those who cannot see it."""

    def __init__(self, width: int, height: int, title: str, words: str) -> None:
        self.width, self.height = width, height
        self.title, self.words = title, words
        self.parts: list[str] = []

    def box(self, x: int, y: int, width: int, height: int, kind: str = "box") -> None:
        self.parts.append(
            f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="7"/>'
        )

    def text(self, x: int, y: int, words: str, kind: str = "", anchor: str = "start") -> None:
        style = f' class="{kind}"' if kind else ""
        self.parts.append(
            f'<text{style} x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'
        )

    def labelled(
        self, x: int, y: int, width: int, height: int, words: list[str], kind: str = "box"
    ) -> None:
        """A box with lines of text in its middle; the first is its name."""
        self.box(x, y, width, height, kind)
        top = y + height // 2 + 5 - 9 * (len(words) - 1)
        for number, line in enumerate(words):
            style = "name" if number == 0 else "small"
            self.text(x + width // 2, top + 18 * number, line, style, "middle")

    def arrow(self, points: list[tuple[int, int]], kind: str = "line") -> None:
        """A line through the points with a head at its end."""
        path = " L".join(f"{x} {y}" for x, y in points)
        head = {"line": "head", "up": "head-up", "down": "head-down"}[kind]
        self.parts.append(f'<path class="{kind}" d="M{path}"/>')
        (x0, y0), (x, y) = points[-2:]
        if x == x0:
            back = 9 if y < y0 else -9
            corners = [(x, y), (x - 5, y + back), (x + 5, y + back)]
        else:
            back = 9 if x < x0 else -9
            corners = [(x, y), (x + back, y - 5), (x + back, y + 5)]
        places = " ".join(f"{a},{b}" for a, b in corners)
        self.parts.append(f'<polygon class="{head}" points="{places}"/>')

    def svg(self) -> str:
        inside = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" '
            f'aria-labelledby="title words">\n'
            f'<title id="title">{escape(self.title)}</title>\n'
            f'<desc id="words">{escape(self.words)}</desc>\n'
            f"<style>{STYLE}</style>\n"
            f'<rect class="card" x="0.5" y="0.5" width="{self.width - 1}" '
            f'height="{self.height - 1}" rx="10"/>\n{inside}\n</svg>\n'
        )


def effects() -> Picture:
    """A request goes up through the handlers, an answer comes down."""
    picture = Picture(
        720,
        392,
        "A request goes up, an answer comes down",
        "The program performs a request. It goes up to the nearest handler, which forwards it to "
        "the host. The host answers, and the program goes on where it stopped.",
    )
    rows = [
        (24, "gives", "Host", "models, files, people, the clock; permissions; the journal"),
        (114, "box", "Handler", "a cache: knows the answer, or forwards the request"),
        (204, "box", "Handler", "a log: writes a line, and forwards the request"),
        (294, "asks", "Program", '(summarize "Tea grows on hills.")'),
    ]
    for y, kind, name, words in rows:
        picture.box(30, y, 660, 62, kind)
        picture.text(50, y + 36, name, "name")
        picture.text(360, y + 36, words, "code" if name == "Program" else "small", "middle")
    for top in (86, 176, 266):
        picture.arrow([(600, top + 28), (600, top)], "up")
        picture.arrow([(640, top), (640, top + 28)], "down")
    picture.text(584, 284, "request", "small", "end")
    picture.text(652, 284, "resume", "small")
    picture.text(584, 104, "forward", "small", "end")
    picture.text(652, 104, "reply", "small")
    picture.text(
        30,
        379,
        "Blue: what is asked. Green: what comes back. Each handler may answer itself.",
        "small",
    )
    return picture


def resume() -> Picture:
    """What a handler may do with the rest of the program."""
    picture = Picture(
        720,
        250,
        "What a handler may do with the rest of the program",
        "A handler may resume once, not at all, or several times.",
    )
    columns = [
        (24, "resumes once", "(resume reply)", "The program goes on."),
        (260, "does not resume", '"denied"', "The handle form has this value."),
        (496, "resumes twice", "[(resume 1) (resume 2)]", "Two futures, two values."),
    ]
    for x, name, code, words in columns:
        picture.labelled(x + 20, 24, 160, 44, ["before the request"], "asks")
        picture.arrow([(x + 100, 68), (x + 100, 96)], "up")
        picture.labelled(x + 20, 96, 160, 44, [name])
        if name == "resumes once":
            picture.arrow([(x + 100, 140), (x + 100, 168)], "down")
            picture.labelled(x + 20, 168, 160, 36, ["the rest"], "gives")
        elif name == "does not resume":
            picture.labelled(x + 20, 168, 160, 36, ["the rest"], "empty")
        else:
            picture.arrow([(x + 62, 140), (x + 62, 168)], "down")
            picture.arrow([(x + 138, 140), (x + 138, 168)], "down")
            picture.labelled(x + 20, 168, 76, 36, ["the rest"], "gives")
            picture.labelled(x + 104, 168, 76, 36, ["the rest"], "gives")
        picture.text(x + 100, 222, code, "code", "middle")
        picture.text(x + 100, 240, words, "small", "middle")
    return picture


def fold() -> Picture:
    """A run is killed, folded, and goes on."""
    picture = Picture(
        720,
        330,
        "A run is a fold of its journal",
        "The machine takes the program and the replies in the journal, one by one, and comes to "
        "the state in which the run was killed. Then it goes on.",
    )
    picture.text(30, 40, "The run", "name")
    for number, words in enumerate(["model", "now", "model", "write"]):
        x = 128 + 126 * number
        picture.labelled(x, 18, 96, 36, [words], "gives" if number < 3 else "stops")
        if number:
            picture.arrow([(x - 30, 36), (x, 36)])
    picture.text(610, 30, "the process", "small")
    picture.text(610, 46, "is killed", "small")
    picture.text(30, 130, "The journal", "name")
    for number, words in enumerate(["reply 0", "reply 1", "reply 2"]):
        x = 128 + 126 * number
        picture.arrow([(x + 48, 54), (x + 48, 106)], "down")
        picture.labelled(x, 106, 96, 36, [words], "gives")
    picture.arrow([(554, 54), (554, 106)])
    picture.labelled(506, 106, 96, 36, ["intent 3"], "stops")
    picture.text(610, 120, "begun, no reply:", "small")
    picture.text(610, 136, "in doubt", "small")
    picture.text(30, 232, "The fold", "name")
    for number in range(4):
        x = 128 + 126 * number
        picture.labelled(x, 208, 96, 36, [f"state {number}"], "asks")
        if number < 3:
            picture.arrow([(x + 96, 226), (x + 126, 226)])
            picture.arrow([(x + 48, 142), (x + 48, 180), (x + 111, 180), (x + 111, 222)], "down")
    picture.arrow([(602, 226), (646, 226)])
    picture.text(652, 231, "goes on", "small")
    picture.text(
        30,
        290,
        "The same program and the same replies in the same order give the same state.",
        "small",
    )
    picture.text(30, 310, "A fold performs nothing: no model, no file, no network.", "small")
    return picture


def budget() -> Picture:
    """What a budget holds before, during and after a call."""
    picture = Picture(
        720,
        300,
        "A budget of 1,000 tokens, before, during and after a call",
        "Before a call its estimated input and the most that it may write are reserved. "
        "What does not fit is refused. After the reply what it took is charged.",
    )
    rows = [
        (30, "before", [(280, "gives", "spent 400"), (420, "empty", "free 600")]),
        (
            100,
            "in flight",
            [
                (280, "gives", "spent 400"),
                (70, "stops", "in 100"),
                (245, "stops", "out, at most 350"),
                (105, "empty", "free 150"),
            ],
        ),
        (
            170,
            "after",
            [(280, "gives", "spent 400"), (140, "gives", "took 200"), (280, "empty", "free 400")],
        ),
    ]
    widths = 700 - 110
    for y, name, parts in rows:
        picture.text(24, y + 28, name, "name")
        x = 104
        for width, kind, words in parts:
            width = round(width * widths / 700)
            picture.box(x, y, width, 44, kind)
            picture.text(x + width // 2, y + 27, words, "small", "middle")
            x += width
    picture.text(
        24,
        250,
        "In flight, another call that may take more than 150 tokens is refused before it is sent,",
        "small",
    )
    picture.text(
        24, 268, "or may write less. So no order of replies leads above the bound.", "small"
    )
    return picture


def security() -> Picture:
    """Whose word grants what."""
    picture = Picture(
        720,
        340,
        "Whose word grants what",
        "The person who runs a program grants permissions. The files of a project grant none. A "
        "program from a model may do what the program around it allows, within its permissions.",
    )
    picture.box(20, 20, 680, 300, "gives")
    picture.text(40, 46, "The person who runs it", "name")
    picture.text(
        40, 66, "--allow-…, --model, their own sexplang.toml, Python's Permissions", "small"
    )
    picture.box(50, 84, 620, 218, "box")
    picture.text(70, 110, "The project: its sexplang.toml, templates, data", "name")
    picture.text(70, 130, "names models and servers, lowers limits, grants nothing", "small")
    picture.box(80, 148, 560, 136, "asks")
    picture.text(100, 174, "The program", "name")
    picture.text(
        100, 194, "reads below its folder; a handler may refuse, and grants nothing", "small"
    )
    picture.box(110, 210, 500, 58, "stops")
    picture.text(130, 234, "A program from a model, and a model's tools", "name")
    picture.text(130, 254, "what allow: and allowed_tools say, within all that is around", "small")
    return picture


PICTURES = {
    "effects": effects,
    "resume": resume,
    "fold": fold,
    "budget": budget,
    "security": security,
}


def main() -> None:
    for name, draw in PICTURES.items():
        (HERE / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
