"""The tests in a file.

    (test "name" form… file: path inputs: {…} script: […] replies: path files: {…}
      expect: e match: pattern error: reason requests: […] prints: text)

Forms beside the tests belong to each of them.
"""

from collections.abc import Callable, Iterable, Iterator

from sexplang.machine import Limits
from sexplang.package.process import growth
from sexplang.reader import read
from sexplang.terms.classes.node import field, frozen
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.diagnostic import Label as Place
from sexplang.terms.effect import Request
from sexplang.terms.form import Form, Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.source import Source, Span
from sexplang.terms.values.value import Value

LIMITS = Limits(steps=20_000_000, held=growth())
"""The limits of a test: some ten seconds of work."""

_TEXT, _LIST, _TABLE, _ANY = "a text in quotes", "a list in []", "a table in {}", ""

PARTS = {
    "file": _TEXT,
    "inputs": _TABLE,
    "script": _LIST,
    "replies": _TEXT,
    "files": _TABLE,
    "expect": _ANY,
    "match": _ANY,
    "error": _ANY,
    "requests": _LIST,
    "prints": _ANY,
}
"""The labels of a test, and the forms that they take."""

_FITS = {_LIST: VectorForm, _TABLE: TableForm}


@frozen(eq=False)
class Test:
    """One test: a program, its inputs, its script and its expectations."""

    name: str
    span: Span
    """The span of its name."""
    source: Source
    common: tuple[Form, ...]
    """The forms beside the tests of its file."""
    forms: tuple[Form, ...]
    parts: dict[str, Form] = field(factory=dict)
    limits: Limits = LIMITS
    """The limits of its programs."""
    model: tuple[str, ...] = ()
    """The values of `--model`, for requests that the script does not answer."""
    python: tuple[str, ...] = ()
    """The Python files that may be run, for their primitives."""
    answering: Callable[[Request], Value | None] | None = None
    """The models of samples. They answer in place of the script's replies for models."""

    __test__ = False

    def text(self, part: str) -> str | None:
        """Return the text behind a label, or None."""
        form = self.parts.get(part)
        return form.value if isinstance(form, Literal) and isinstance(form.value, str) else None


def collect(source: Source) -> list[Test]:
    """Return the tests of a file in their order. Raises Diagnostics."""
    found: list[Diagnostic] = []
    tests: list[Test] = []
    forms = read(source)
    common = tuple(form for form in forms if not _is_test(form))
    for form in forms:
        if _is_test(form):
            assert isinstance(form, ListForm)
            tests += _test(form, source, common, found)
    found += _twice(tests)
    if found:
        raise Diagnostics(found)
    return tests


def _is_test(form: Form) -> bool:
    head = form.items[0] if isinstance(form, ListForm) and form.items else None
    return isinstance(head, Name) and head.text == "test"


def _test(
    form: ListForm, source: Source, common: tuple[Form, ...], found: list[Diagnostic]
) -> Iterator[Test]:
    items = form.items[1:]
    name = items[0] if items else form
    if not isinstance(name, Literal) or not isinstance(name.value, str):
        found.append(
            report_malformed(name.span, "I expected the test's name here, a text in quotes")
        )
        return
    forms: list[Form] = []
    parts: dict[str, Form] = {}
    rest = iter(items[1:])
    for item in rest:
        if not isinstance(item, Label):
            forms.append(item)
            continue
        # The reader guarantees that a value follows a label.
        value = next(rest)
        found += _wrong(item, value, parts)
        parts[item.text] = value
    if "file" in parts and forms:
        found.append(report_malformed(forms[0].span, "a test has a `file:` or forms, not both"))
    if "file" not in parts and not forms and not common:
        found.append(report_malformed(form.span, "this test has no program: forms, or a `file:`"))
    yield Test(name.value, name.span, source, common, tuple(forms), parts)


def _wrong(label: Label, value: Form, parts: dict[str, Form]) -> Iterator[Diagnostic]:
    if label.text not in PARTS:
        known = ", ".join(f"{name}:" for name in PARTS)
        yield report_malformed(label.span, f"a test has no `{label.text}:`", f"it has {known}")
        return
    if label.text in parts:
        yield report_malformed(label.span, f"`{label.text}:` is there already")
    wanted = PARTS[label.text]
    fits = (
        isinstance(value, Literal) and isinstance(value.value, str)
        if wanted is _TEXT
        else isinstance(value, _FITS.get(wanted, object))
    )
    if not fits:
        hint = (
            None
            if isinstance(value, Literal)
            else f"write it out here: {label.text}: is read as it stands"
        )
        yield report_malformed(value.span, f"`{label.text}:` takes {wanted}", hint)


def _twice(tests: Iterable[Test]) -> Iterator[Diagnostic]:
    first: dict[str, Test] = {}
    for test in tests:
        other = first.setdefault(test.name, test)
        if other is not test:
            yield Diagnostic(
                "bad-test",
                f"two tests are called {test.span.text}",
                (Place(test.span, "again here"), Place(other.span, "first here")),
                hint="give each its own name",
            )


def report_malformed(span: Span, words: str, hint: str | None = None) -> Diagnostic:
    """Return the diagnostic for an error in the syntax of a test."""
    return Diagnostic(
        "bad-test",
        words,
        (Place(span, "here"),),
        hint=hint or 'write (test "name" form… expect: value)',
    )
