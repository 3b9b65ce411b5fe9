"""What is said of a text that cannot be read: the code, the place, what to type."""

import pytest

from sexplang.reader import read
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.source import Source


def found(text: str, **limits: int) -> list[Diagnostic]:
    with pytest.raises(Diagnostics) as refused:
        read(Source("test.sexp", text), **limits)
    return list(refused.value.diagnostics)


# The place is between ⟦ and ⟧; the last column is a part of the hint.
FAULTS = """
⟦(⟧a                        | unclosed-bracket     | add `)`
(a (b)⟦]⟧                   | mismatched-closer    | write `)`
(a)⟦)⟧ b                    | stray-closer         | delete it
⟦"⟧abc                      | unterminated-string  | write `"`
⟦\"""⟧abc"                  | unterminated-text    | write `\"""`
a ⟦#|⟧ #| |#                | unterminated-comment | one `|#` for each
"a⟦\\x⟧41"                  | bad-escape           | hexadecimal
"a⟦\\u⟧12"                  | bad-escape           | four hexadecimal
"⟦\\ud83d⟧ "                | bad-escape           | both halves
⟦.5⟧                        | bad-number           | write `0.5`
⟦1.⟧                        | bad-number           | write `1.0`
⟦+5⟧                        | bad-number           | write `5`
⟦007⟧                       | bad-number           | write `7`
⟦1/2⟧                       | bad-number           | write `(/ 1 2)`
⟦1+⟧                        | bad-number           | (+ n 1)
⟦1_000⟧                     | bad-number           | write `1000`
⟦1e999⟧                     | limit-number         | smaller
{⟦n:3⟧}                     | label-needs-space    | write `n: 3`
(f ⟦n:⟧'x)                  | label-needs-space    | write `n: '
(f ⟦:a⟧ 1)                  | leading-colon        | write `a:`
{a ⟦:⟧ 1}                   | bad-label            | write `a:`
{⟦5:⟧ 1}                    | bad-label            | write `"5":`
{⟦a::⟧ 1}                   | bad-label            | write `a:`
⟦a:⟧ 1                      | label-misplaced      | (define a
[⟦a:⟧ 1]                    | label-misplaced      | {a: …}
(f '⟦a:⟧ 1)                 | label-misplaced      | calls and in tables
{⟦a⟧ 1}                     | label-expected       | write `a: value`
{⟦"a"⟧ 1}                   | label-expected       | write `"a": value`
{⟦~@x⟧}                     | label-expected       | key: value
{⟦a:⟧}                      | value-missing        | `a: nil`
(f ⟦a:⟧ b: 1)               | value-missing        | `a: nil`
(a ⟦'⟧)                     | mark-without-form    | `'x`
a ⟦#;⟧                      | mark-without-form    | write `;`
`(a ⟦,x⟧)                   | comma-unquote        | write `~x`
`(a ⟦,@xs⟧)                 | comma-unquote        | write `~@xs`
`⟦,x⟧                       | comma-unquote        | write `~x`
`[1 ⟦,(⟧f)]                 | comma-unquote        | write `~(…`
⟦don⟧'t                     | bad-symbol           | double quotes
⟦#true⟧                     | bad-symbol           | write `true`
⟦#⟧(1 2)                    | bad-symbol           | […]
⟦#⟧(* % 2)                  | bad-symbol           | (lambda (x) (* x 2))
(+ 1 2) ⟦#⟧ three           | bad-symbol           | begins with `;`
(sort xs ⟦#⟧'<)             | bad-symbol           | leave `#'` out
(re-find ⟦#⟧"a" s)          | bad-symbol           | a pattern is a text
(get t ⟦:a⟧)                | leading-colon        | write `"a"`
(put t ⟦:a⟧ 1)              | leading-colon        | write `"a"`
(map ⟦:a⟧ rows)             | leading-colon        | (lambda (x) x.a)
(⟦:a⟧ t)                    | leading-colon        | (get t "a")
(reduce + xs ⟦:start⟧ 1)    | leading-colon        | (slice xs start end)
(lambda (x)⟦:⟧ x)           | bad-label            | leave it out
a⟦#|⟧b                      | bad-symbol           | space before
⟦a#⟧;b                      | bad-symbol           | `a# ;`
⟦“⟧hi                       | bad-character        | write `"`
a⟦\u00a0⟧b                  | bad-character        | a space
⟦（⟧a）                     | bad-character        | write `(`
a ; ⟦\u202e⟧                | bad-character        | delete it
"a⟦\u200b⟧b"                | bad-character        | `\\u200b`
"a⟦\u200d⟧b"                | bad-character        | `\\u200d`
"""


@pytest.mark.parametrize("row", FAULTS.strip().splitlines())
def test_a_fault_is_named_with_its_place_and_remedy(row):
    """The first diagnostic has the code, points at the marked place and says what to type."""
    marked, code, remedy = (part.strip() for part in row.rsplit(" | ", 2))
    start, end = marked.index("⟦"), marked.index("⟧") - 1
    text = marked.replace("⟦", "").replace("⟧", "")
    first = found(text)[0]

    assert first.span is not None
    assert (code, start, end) == (first.code, first.span.start, first.span.end)
    assert remedy in str(first.hint)


def test_an_identifier_in_two_scripts_is_refused():
    """A Cyrillic а in a Latin word is another name than the one it looks like."""
    (fault,) = found("p\u0430ge")

    assert fault.code == "bad-symbol"
    assert "Latin and Cyrillic" in fault.title


def test_an_identifier_that_is_not_normal_is_refused():
    """An e with a combining accent is not the letter é."""
    (fault,) = found("cafe\u0301")

    assert (fault.code, fault.hint) == ("bad-symbol", "type it anew: `café`")


def test_an_unclosed_bracket_is_guessed_from_the_indentation():
    """A form that stands no further in than an open bracket's line was to follow it."""
    text = "\n(define (f x)\n  (g x)\n\n(define (h) 2)\n"
    (fault,) = found(text)
    opening, guess = fault.labels

    assert (fault.code, opening.span.start) == ("unclosed-bracket", 1)
    assert text[guess.span.start - 5 : guess.span.start] == "(g x)"


def test_all_open_brackets_are_counted():
    """The innermost is named; the hint closes all of them."""
    (fault,) = found("(a [b {c: 1")

    assert (fault.title, fault.hint) == ("`{` is never closed", "add `}])`")
    assert fault.notes == ("3 brackets are open where the text ends",)


def test_independent_faults_are_told_together_in_order():
    """One reading tells what can be told, up to a number that a person can use."""
    codes = [fault.code for fault in found("(f .5 :a)\n{b 1}\n(g]\n")]

    assert codes == ["bad-number", "leading-colon", "label-expected", "mismatched-closer"]
    assert len(found(")" * 1000)) == 50


def test_depth_is_bounded():
    """10,000 levels are read, level 10,001 is refused where it begins; marks count."""
    assert len(read(Source("", "(" * 10_000 + ")" * 10_000))) == 1
    assert len(read(Source("", "'" * 10_000 + "x"))) == 1
    assert found("(" * 10_001 + ")" * 10_001)[0].labels[0].span.start == 10_000
    assert found("'#;a " * 10_001 + "x")[0].code == "limit-depth"
    assert found("((1))", max_depth=1)[0].code == "limit-depth"


def test_size_is_bounded():
    """A text longer than the limit is refused before anything is made of it."""
    assert found("x" * 11, max_size=10)[0].code == "limit-size"


def test_digits_are_bounded():
    """An integer in a text is no larger than one that a program can make."""
    for digits in (4215, 4301):
        for sign in ("", "-"):
            assert found(sign + "9" * digits)[0].code == "limit-number"


@pytest.mark.parametrize(
    "text",
    ["(" * 100_000, "'" * 100_000, "#;" * 100_000, "{a: " * 100_000, "`~" * 100_000, ")" * 100_000,
     "#|" * 100_000, "{" + "1 " * 50_000, "`(" + ",x " * 50_000, "(\n" * 100_000],
    ids=["(", "'", "#;", "{a:", "`~", ")", "#|", "{1", ",x", "(\\n"],
)  # fmt: skip
@pytest.mark.timeout(10)
def test_a_hostile_text_is_refused_quickly(text):
    """No text makes the reader recurse, or take time beyond its length."""
    assert found(text)
