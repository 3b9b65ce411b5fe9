"""The guide: short enough, complete, and nothing else than the shipped text."""

from support.command import sexplang

from sexplang.analysis.slips.deprecated_names import DEPRECATED
from sexplang.compiler.forms.shapes import SHAPES
from sexplang.hosts.cli.shipped_pages import guide
from sexplang.hosts.reference.language_names import INNER
from sexplang.hosts.tokens import tokens
from sexplang.machine import HIGHER
from sexplang.pipeline.pipeline import STANDARD
from sexplang.primitives import OPERATIONS, PRIMITIVES

SPELLED = {"quote": "'sym", "quasiquote": "`(a ~x ~@xs)", "fn": "lambda", "progn": "begin"}
"""Special forms that the guide shows under another spelling."""


def words():
    """Every name in the guide, in examples and in the text."""
    return {
        name
        for line in guide().splitlines()
        for each in tokens(line)
        for name in [line[each.start : each.end].strip("`.,;:")]
    } | set(guide().replace("`", " ").replace("(", " ").replace(")", " ").split())


def test_it_fits_into_a_prompt():
    """At most 6,000 tokens, at three and a half characters each."""
    assert 6_000 >= len(guide()) / 3.5  # characters of a token


def test_it_names_everything():
    """Every name of the prelude, every operation of the host and every special form is in it."""
    known = words()
    names = {*PRIMITIVES, *HIGHER, *STANDARD, *OPERATIONS, *SHAPES} - INNER - set(DEPRECATED)

    assert [] == sorted(names - known - set(SPELLED))
    assert all(spelling in guide() for spelling in SPELLED.values())


def test_the_command_prints_it():
    """`sexplang guide` writes the text and nothing else."""
    done = sexplang("guide")

    assert (guide(), "", 0) == (done.stdout, done.stderr, done.returncode)


LIB = '(defatom greet (params who) (instructions "Greet {{who}}"))'
PROGRAM = """
(define-input topic)
(defatom plan (params topic) (instructions "Plan {{topic}}"))
(defatom write (params topic) (instructions "Write about {{topic}}"))
(define done (list (plan topic) (write topic)))
(print "done")
{status: "done" parts: (length done)}
"""


def test_its_file_of_tests_passes(tmp_path):
    """As it is written, beside a library and a program of its names."""
    _, _, rest = guide().partition("```text\n(import")
    tests, _, _ = rest.partition("```")
    (tmp_path / "lib.sexp").write_text(LIB)
    (tmp_path / "program.sexp").write_text(PROGRAM)
    (tmp_path / "guide.test.sexp").write_text(f"(import{tests}")
    done = sexplang("test", tmp_path / "guide.test.sexp")

    assert 0 == done.returncode, done.stdout + done.stderr
    assert "1 passed" in done.stdout + done.stderr
