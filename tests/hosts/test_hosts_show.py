"""Diagnostics and errors as people see them."""

import io

from hypothesis import given
from hypothesis import strategies as st

from sexplang.hosts.terminal.show import (
    colour,
    diagnostics_text,
    draw_hidden,
    paint_for,
    show,
    show_error,
)
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Source, Span
from sexplang.terms.task import error_record


def spans(text, *parts, name="review.sexp"):
    """The places of the parts in the text."""
    source = Source(name, text)
    return [Span(source, text.index(part), text.index(part) + len(part)) for part in parts]


def found(text, *labels, **more):
    """A diagnostic with a label for each pair of part and words."""
    places = spans(text, *(part for part, _ in labels))
    made = [Label(place, words) for place, (_, words) in zip(places, labels, strict=True)]
    return Diagnostic("unbound-name", "nothing here is called `x`", tuple(made), **more)


def test_a_diagnostic_shows_its_place_with_carets_and_a_hint():
    """Title, place, the line, carets with the words, then the hint, all aligned."""
    text = "\n" * 11 + "  (map sumarise pages)\n"
    shown = show(found(text, ("sumarise", "not bound here"), hint="did you mean `summarize`?"))

    assert shown == (
        "error[unbound-name]: nothing here is called `x`\n"
        "   ┌─ review.sexp:12:8\n"
        "12 │   (map sumarise pages)\n"
        "   │        ^^^^^^^^ not bound here\n"
        "   = hint: did you mean `summarize`?"
    )


def test_a_longer_span_is_underlined_where_it_begins_and_where_it_ends():
    """What lies between is left out, and the words stand at the end."""
    shown = show(found("\n(a\n  b\n  c\n  d)\n", ("(a\n  b\n  c\n  d)", "never closed")))

    assert shown.split("\n")[1:] == [
        "  ┌─ review.sexp:2:1",
        "2 │ (a",
        "  │ ^^",
        "  ┆",
        "5 │   d)",
        "  │   ^^ never closed",
    ]


def test_a_second_place_is_underlined_with_dashes():
    """The first label is the place; others explain it."""
    shown = show(found("\n(f x) ; x\n(f y)\n", ("(f y)", "again here"), ("(f x)", "first here")))

    assert "  │ ^^^^^ again here" in shown
    assert "  │ ----- first here" in shown


def test_tabs_and_wide_characters_keep_carets_under_what_they_mean():
    """A tab is drawn as spaces; a wide character takes two columns, a combining one none."""
    for text in ("\tbad", "日本bad", "e\u0301bad"):
        lines = show(found(text, ("bad", ""))).split("\n")
        columns = sum(
            2 if char in "日本" else char != "\u0301" for char in lines[2].split("bad")[0]
        )

        assert columns == lines[3].index("^")


def test_a_long_line_is_cut_around_the_place():
    """A document on one line shows only what surrounds the place."""
    lines = show(found("x" * 5000 + "HERE" + "y" * 5000, ("HERE", ""))).split("\n")

    assert len(lines[2]) < 130
    assert lines[2].index("HERE") == lines[3].index("^^^^")


def test_the_end_of_a_text_can_be_pointed_at():
    """An empty span still has a caret."""
    source = Source("a", "(f\n")
    shown = show(Diagnostic("unclosed", "t", (Label(Span(source, 3, 3), "expected here"),)))

    assert shown.endswith("│ ^ expected here")


def test_nothing_shown_can_steer_a_terminal():
    """Control characters of a program or a model are drawn as signs."""
    shown = show(found("\x1b[31m bad \u202e", ("bad", "\x07"), notes=("a\x9bb",)))

    assert "␛[31m bad <U+202E>" in shown
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in shown if char != "\n")


@given(st.text(max_size=60), st.data())
def test_every_span_of_every_text_can_be_shown(text, data):
    """Showing never fails and never sends a control character."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    label = Label(Span(Source("a", text), start, end), "here")
    shown = show(Diagnostic("code", "title", (label,)))

    assert all(draw_hidden(line) == line for line in shown.split("\n"))
    assert "^" in shown


def test_colour_is_for_terminals_that_want_it():
    """A stream that is no terminal, NO_COLOR and a dumb terminal stay plain."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    assert paint_for(Terminal(), {}) is colour
    assert paint_for(io.StringIO(), {}) is not colour
    assert paint_for(Terminal(), {"NO_COLOR": "1"}) is not colour
    assert paint_for(Terminal(), {"TERM": "dumb"}) is not colour


def test_an_error_shows_its_reason_place_hint_and_details():
    """An error of a run looks like a diagnostic, with its details as lines."""
    text = "\n(review doc)\n"
    (span,) = spans(text, "(review doc)")
    error = error_record(
        "TASK_FAILURE",
        "template_not_found",
        "no template fits",
        details={"wanted": "review", "nothing": None},
        span=span.plain(),
        hint="write one",
    )
    shown = show_error(error, {"review.sexp": span.source}.get)

    assert shown == (
        "error[TASK_FAILURE template_not_found]: no template fits\n"
        "  ┌─ review.sexp:2:1\n"
        "2 │ (review doc)\n"
        "  │ ^^^^^^^^^^^^\n"
        "  = detail: wanted: review\n"
        "  = hint: write one"
    )
    assert "  ┌─ review.sexp:2:1\n" in show_error(error)


def test_a_long_line_of_details_is_cut_and_said_where_it_is_whole():
    """A value in `values` too. Shorter lines stay as they are, without a word."""
    details = {"partial_results": {"text": "a" * 150, "more": "b" * 60}, "short": "c" * 190}
    error = error_record("TASK_FAILURE", "tool_execution_error", "m", details=details)
    lines = show_error(error, more=[("values", f"x = {'d' * 300}\ny = 1")], whole="W").split("\n")

    assert lines[1:] == [
        f'  = detail: partial_results: {{text: "{"a" * 150}" more: "{"b" * 15}…',
        f"  = detail: short: {'c' * 190}",
        f"  = values: x = {'d' * 195}…",
        "            y = 1",
        "  = note: W",
    ]
    assert len(lines[1]) == len("  = detail: ") + 200
    log = error_record("TASK_FAILURE", "m", "m", details={"log": "one line\n" * 100})
    assert show_error(log).count("one line") == 43
    short = error_record("TASK_FAILURE", "m", "m", details={"short": "c" * 190})
    assert "…" not in show_error(short, whole="W") and "W" not in show_error(short, whole="W")


def test_what_is_wrong_with_a_reply_is_shown_once():
    """Though the error has it as its message, its violations and its repairs."""
    asked = "asked again: it does not fit: "
    details = {"violations": ("n: 3",), "repairs": (f"{asked}n: 1", f"{asked}n: 1", f"{asked}n: 3")}
    error = error_record("TASK_FAILURE", "output_format_failure", "it does not fit: n: 3")
    error.fields["details"] = details

    assert show_error(error).split("\n") == [
        "error[TASK_FAILURE output_format_failure]: it does not fit: n: 3",
        f'  = detail: repairs: ["{asked}n: 1" "asked again" "asked again"]',
    ]
    error.fields["message"] = "it does not fit"
    assert '  = detail: violations: ["n: 3"]' in show_error(error)
    error.fields["details"] = {"violations": 3, "repairs": "none"}
    assert "violations: 3" in show_error(error)


def test_an_error_points_to_its_page():
    """The code in the details names the page; else the reason does."""
    error = error_record("TASK_FAILURE", "unexpected_error", "m", details={"code": "model-busy"})

    assert "explain: sexplang explain model-busy" in show_error(
        error, has_page={"model-busy"}.__contains__
    )


def test_a_flood_is_cut_errors_first():
    """Fifty are shown, and how many more there are."""
    (span,) = spans("(list x)", "x")
    warnings = [
        Diagnostic("unused-binding", f"w{n}", (Label(span),), severity="warning") for n in range(60)
    ]
    error = Diagnostic("unbound-name", "the error", (Label(span),))
    shown = diagnostics_text([*warnings, error], io.StringIO())

    assert shown.startswith("error[unbound-name]: the error\n")
    assert 49 == shown.count("warning[")
    assert shown.endswith("\n\nand 11 more")


def test_a_long_name_is_shortened():
    """A form between backticks is not: it has spaces; a path stays too."""
    name, path = "x" * 70, "/tmp/" + "y" * 100
    shown = show(Diagnostic("unbound-name", f"`{name}` is not `{path}`, write `(a {'b ' * 60})`"))

    assert f"`{'x' * 59}…` is not `{path}`, write `(a {'b ' * 60})`" in shown
    assert len(show(Diagnostic("unbound-name", "z" * 100_000))) < 400
