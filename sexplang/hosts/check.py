"""Files to what is wrong with them, without running anything."""

import json
import os
import sys

from sexplang.hosts.files import folder_of, source_at
from sexplang.hosts.guard import DONE, FAILED
from sexplang.hosts.programs import built
from sexplang.terms.diagnostic import Diagnostic, Diagnostics


def check(files: tuple[str, ...], *, as_json: bool, strict: bool) -> int:
    """Shows what is wrong with programs and templates; 1 if anything is an error."""
    found = [each for file in files for each in _found(file)]
    if as_json:
        print(json.dumps([each.plain() for each in found]))
    else:
        _show(found, files)
    return FAILED if any(strict or each.severity == "error" for each in found) else DONE


def _found(file: str) -> tuple[Diagnostic, ...]:
    try:
        source = source_at(file)
        if file.endswith(".xml"):
            from sexplang.templates import read_templates

            read_templates(source)
            return ()
        return tuple(built(source, folder_of(file) if file != "-" else None).warnings)
    except Diagnostics as found:
        return found.diagnostics


def _show(found: list[Diagnostic], files: tuple[str, ...]) -> None:
    from sexplang.hosts.explain import has_page
    from sexplang.hosts.show import paint_for, show

    paint = paint_for(sys.stderr, os.environ)
    for each in found:
        print(show(each, paint, has_page(each.code)), end="\n\n", file=sys.stderr)
    errors = sum(each.severity == "error" for each in found)
    counted = [_count(errors, "error"), _count(len(found) - errors, "warning")]
    print(f"{_count(len(files), 'file')}: {', '.join(counted)}", file=sys.stderr)


def _count(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"
