"""The diagnostics of the reader, with their hints."""

from sexplang.reader.characters import Flaw, escape, name_character
from sexplang.terms.diagnostic import Diagnostic, Label
from sexplang.terms.source import Source, Span

_CLOSER = {"(": ")", "[": "]", "{": "}"}

_UNTERMINATED = {
    "unterminated-string": (
        'a string without its closing `"`',
        "the string begins here",
        'write `"` at its end',
    ),
    "unterminated-text": (
        'a text block without its closing `"""`',
        "the text begins here",
        'write `"""` at its end',
    ),
    "unterminated-comment": (
        "a comment without its closing `|#`",
        "the comment begins here",
        "write one `|#` for each `#|`",
    ),
}


def too_large(source: Source, most: int) -> Diagnostic:
    return Diagnostic(
        "limit-size",
        f"this text is longer than {most:,} characters",
        (Label(Span(source, most, most + 1), "read no further than this"),),
        hint="divide the program into modules, and read large data with `read-file`",
    )


def too_many(source: Source, end: int, most: int) -> Diagnostic:
    return Diagnostic(
        "limit-size",
        f"this text has more than {most:,} words and brackets",
        (Label(Span(source, end, min(end + 1, len(source.text))), "read no further than this"),),
        hint="divide the program into modules, and read large data with `read-file`",
    )


def too_deep(span: Span, most: int) -> Diagnostic:
    return Diagnostic(
        "limit-depth",
        f"forms are nested more than {most:,} deep",
        (Label(span, f"level {most + 1:,} begins here"),),
        hint="give inner parts names with `define`, or read deep data with `read-file`",
    )


def report_hidden_character(span: Span, char: str) -> Diagnostic:
    hint = f"delete it; in a string, write it as `{escape(char)}`"
    if "\ud800" <= char <= "\udfff":
        hint = "it is half a character; delete it, or write the whole one"
    return Diagnostic(
        "bad-character",
        f"{name_character(char)} cannot be seen, so it cannot stand here",
        (Label(span, "an invisible character"),),
        hint=hint,
    )


def report_flaw(span: Span, flaw: Flaw) -> Diagnostic:
    return Diagnostic(flaw.code, flaw.title, (Label(span, flaw.words),), hint=flaw.hint)


def report_unterminated(code: str, span: Span) -> Diagnostic:
    title, words, hint = _UNTERMINATED[code]
    return Diagnostic(code, title, (Label(span, words),), hint=hint)


def mark_after_word(span: Span, word: str, after: str) -> Diagnostic:
    if after == ";":
        return Diagnostic(
            "bad-symbol",
            f"`{word};` could be a symbol or drop a form",
            (Label(span, "ends in `#` directly before `;`"),),
            hint=f"write `{word} ;` for a comment, `{word[:-1]} #;` to drop the next form",
        )
    if word.endswith(":"):
        return Diagnostic(
            "label-needs-space",
            f"`{word}` needs a space after it",
            (Label(span, "a label ends at white space or a bracket"),),
            hint=f"write `{word} {after}…`",
        )
    hint = f"text is written in double quotes; else put a space before `{after}`"
    if word == "#" and after == "'":
        hint = "a function is its name, or its lambda, alone: leave `#'` out"
    return Diagnostic(
        "bad-symbol",
        f"`{after}` directly after `{word}`",
        (Label(span, "a symbol ends at white space or a bracket"),),
        hint=hint,
    )


def comma_unquote(span: Span, form: str) -> Diagnostic:
    opening = form if form in ("(", "[", "{") else ""
    shown = (form[1:] if form.startswith("@") else form) if not opening else f"{opening}…"
    mark = "~@" if form.startswith("@") else "~"
    return Diagnostic(
        "comma-unquote",
        "a comma does not unquote; it is white space",
        (Label(span, "Scheme would unquote here"),),
        hint=f"write `{mark}{shown}`, or put a space after the comma",
    )


def label_misplaced(span: Span, opening: str, marked: bool) -> Diagnostic:
    name = span.text
    hints = {
        "[": f"for a table write `{{{name} …}}`",
        "": f"to name a value write `(define {name.strip(':')} …)`",
    }
    return Diagnostic(
        "label-misplaced",
        f"the label `{name}` names nothing here",
        (Label(span, "a mark needs a form after it" if marked else "no argument and no key"),),
        hint="labels stand in calls and in tables"
        if marked or opening not in hints
        else hints[opening],
    )


def label_expected(span: Span, text: str) -> Diagnostic:
    shown = text if len(text) <= 30 and "\n" not in text else f"{text[:12]}…"
    is_key = text[:1] == '"' or text.replace("-", "").replace("_", "").isalnum()
    key = f"`{shown}: value`" if is_key and not text[0].isdigit() else "`key: value`"
    return Diagnostic(
        "label-expected",
        f"`{shown}` stands in a table without a label",
        (Label(span, "I expected a label here"),),
        hint=f"write {key}; for a list write `[…]`",
    )


def label_needs_space(span: Span, word: str) -> Diagnostic:
    name, _, value = word.partition(":")
    return Diagnostic(
        "label-needs-space",
        f"`{word}` is one symbol, not a label and its value",
        (Label(span, "a label needs a space after its colon"),),
        hint=f"write `{name}: {value}`",
    )


def value_missing(span: Span) -> Diagnostic:
    return Diagnostic(
        "value-missing",
        f"the label `{span.text}` has no value",
        (Label(span, "I expected a form after this"),),
        hint=f"write `{span.text} value`, or `{span.text} nil`",
    )


def mark_without_form(span: Span) -> Diagnostic:
    drops = span.text == "#;"
    return Diagnostic(
        "mark-without-form",
        f"nothing follows `{span.text}`",
        (Label(span, f"I expected a form to {'drop' if drops else 'quote'}"),),
        hint="write `;` for a comment to the end of the line"
        if drops
        else f"write the form directly after it: `{span.text}x`",
    )


def stray_closer(span: Span) -> Diagnostic:
    return Diagnostic(
        "stray-closer",
        f"`{span.text}` closes nothing",
        (Label(span, "no bracket is open here"),),
        hint="delete it, or open a bracket before it",
    )


def report_mismatched_closer(span: Span, opening: Span) -> Diagnostic:
    closer = _CLOSER[opening.text]
    return Diagnostic(
        "mismatched-closer",
        f"`{span.text}` cannot close `{opening.text}`",
        (Label(span, f"I expected `{closer}` here"), Label(opening, "opened here")),
        hint=f"write `{closer}`, or close `{opening.text}` before this",
    )


def report_unclosed_bracket(
    opening: Span, openings: list[str], guess: Span | None, end: Span
) -> Diagnostic:
    """Report an unclosed bracket; `openings` are all that are open at the end, innermost first."""
    missing = "".join(_CLOSER[bracket] for bracket in openings[:40])
    where = (
        Label(guess, "by its indentation it ends here") if guess else Label(end, "the text ends")
    )
    count = len(openings)
    return Diagnostic(
        "unclosed-bracket",
        f"`{opening.text}` is never closed",
        (Label(opening, "opened here"), where),
        (f"{count:,} brackets are open where the text ends",) if count > 1 else (),
        f"add `{missing}{'…' if count > 40 else ''}`",
    )
