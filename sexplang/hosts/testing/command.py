"""`sexplang test`: files of tests to a report and an exit status."""

import json
import os
import sys
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from sexplang.hosts.cli.guard import DONE, FAILED, MISUSE
from sexplang.hosts.cli.output import say_all
from sexplang.hosts.settings.limit_options import parse_limits
from sexplang.hosts.settings.path_arguments import source_at, status_of
from sexplang.hosts.settings.run_arguments import budget_of, pair, parse_models
from sexplang.hosts.testing import Account, Rate, Result, Test, collect, run_test, sample
from sexplang.hosts.testing.cases import LIMITS
from sexplang.hosts.testing.live import live
from sexplang.runtime.files.source_finder import TESTS
from sexplang.terms.classes.node import evolve
from sexplang.terms.diagnostic import Diagnostic, Diagnostics


def test(
    files: tuple[str, ...],
    *,
    named: str | None,
    limit: str | None,
    model: tuple[str, ...],
    python: tuple[str, ...] = (),
    as_json: bool,
    samples: int | None = None,
    at_least: float = 1.0,
    budget: str | None = None,
) -> int:
    """Run tests and print the report; return 1 if one fails or cannot be read, or if there are
    none. With `samples`, each is run so many times against the models, and fails if a smaller
    share than `at_least` passes."""
    since = perf_counter()
    try:
        given: dict[str, Any] = {**parse_limits(limit)}
        _check_models(model)
        account = _open_account(samples, model, budget)
    except Diagnostics as refused:
        return say_all(refused.diagnostics, MISUSE)
    limits = evolve(LIMITS, **given)
    tests, broken = _collect(files)
    chosen = [
        evolve(each, limits=limits, model=model, python=python)
        for each in tests
        if named is None or named in each.name
    ]
    answer = live(model) if samples is not None else None
    if account is not None and answer is not None and samples is not None:
        rates, is_cut = sample(chosen, samples, answer, account)
        status = _report_rates(rates, broken, at_least, account, as_json)
        if is_cut:
            raise KeyboardInterrupt
        return status
    results = list(_run(chosen, dots=sys.stderr.isatty() and not as_json))
    failed = [each for each in results if not each.is_success]
    seconds = perf_counter() - since
    if as_json:
        print(json.dumps(_plain(results, broken, seconds), ensure_ascii=False))
    else:
        _report(failed, broken)
        print(_summary(len(results) - len(failed), len(failed), len(broken), seconds))
    if broken:
        return status_of(broken)
    return FAILED if failed or not results else DONE


test.__test__ = False  # type: ignore[attr-defined]


def _check_models(words: tuple[str, ...]) -> None:
    """Raise Diagnostics for a recording: it answers a whole run."""
    if any(each.startswith("replay:") for _, each in map(pair, words)):
        hint = "name a model, or scripted:FILE; sexplang run --model replay:FILE repeats a run"
        raise Diagnostics([Diagnostic("bad-input", "a test repeats no recording", hint=hint)])


def _open_account(
    samples: int | None, model: tuple[str, ...], budget: str | None
) -> Account | None:
    """Return the account of samples; None without samples. Raises Diagnostics."""
    if samples is None:
        if budget is not None:
            hint = "sexplang test FILE --model M --samples 10 --budget calls=100"
            raise Diagnostics([Diagnostic("bad-input", "a budget is for samples", hint=hint)])
        return None
    if not model:
        hint = "sexplang test FILE --model M --samples 10"
        raise Diagnostics([Diagnostic("bad-input", "samples need a model", hint=hint)])
    from sexplang.runtime.models.prices import prices

    bounds = {} if budget is None else budget_of(budget)
    return Account(bounds, prices(parse_models(model)))


def _report_rates(
    rates: list[Rate], broken: list[Diagnostic], least: float, account: Account, as_json: bool
) -> int:
    """Print the rates; return 1 if a test passes too rarely, or has no sample."""
    from sexplang.hosts.terminal.show import diagnostics_text, draw_hidden

    failed = [each for each in rates if not each.is_success(least)]
    if as_json:
        found = {
            "tests": [each.plain(least) for each in rates],
            "errors": [each.plain() for each in broken],
            "passed": len(rates) - len(failed),
            "failed": len(failed),
            "seconds": round(sum(sample.seconds for each in rates for sample in each.results), 6),
            "usage": account.plain(),
        }
        print(json.dumps(found, ensure_ascii=False))
    else:
        if broken:
            print(diagnostics_text(broken, sys.stdout), end="\n\n")
        for each in rates:
            print(draw_hidden(str(each)))
            first = next((found for found in each.results if not found.is_success), None)
            if first is not None:
                print(diagnostics_text(first.findings, sys.stdout), end="\n\n")
        cost = "" if account.usd is None else f", {account.usd:.4f} usd"
        print(f"{account.calls} model calls, {account.tokens} tokens{cost}")
        if account.stopped is not None:
            print(f"the budget is spent: {account.stopped}")
    if broken:
        return status_of(broken)
    return FAILED if failed or not rates else DONE


def _collect(files: tuple[str, ...]) -> tuple[list[Test], list[Diagnostic]]:
    tests: list[Test] = []
    broken: list[Diagnostic] = []
    for path in dict.fromkeys(path for file in files for path in _paths(file)):
        try:
            tests += collect(source_at(path))
        except Diagnostics as found:
            broken += found.diagnostics
    return tests, broken


def _paths(file: str) -> Iterator[str]:
    """Yield the file, or the files of tests below a folder."""
    if not os.path.isdir(file):
        yield file
        return
    for folder, folders, names in os.walk(file):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(TESTS))


def _run(tests: list[Test], dots: bool) -> Iterator[Result]:
    for each in tests:
        result = run_test(each)
        if dots:
            print("." if result.is_success else "F", end="", file=sys.stderr, flush=True)
        yield result
    if dots and tests:
        print(file=sys.stderr)


def _report(failed: list[Result], broken: list[Diagnostic]) -> None:
    from sexplang.hosts.terminal.show import diagnostics_text, draw_hidden, paint_for

    paint = paint_for(sys.stdout, os.environ)
    if broken:
        print(diagnostics_text(broken, sys.stdout), end="\n\n")
    for result in failed:
        place = f"{result.test.source.name}:{result.test.span.begin.line}"
        print(f"{paint('FAILED', 'error')} {draw_hidden(result.test.name)}  {draw_hidden(place)}")
        if result.findings:
            print(diagnostics_text(result.findings, sys.stdout), end="\n\n")


def _summary(passed: int, failed: int, broken: int, seconds: float) -> str:
    if not passed and not failed and not broken:
        return "no tests"
    counted = [f"{passed} passed"]
    counted += [f"{failed} failed"] if failed else []
    counted += [f"{broken} not understood"] if broken else []
    return f"{', '.join(counted)} in {seconds:.1f} s"


def _plain(results: list[Result], broken: list[Diagnostic], seconds: float) -> dict[str, Any]:
    passed = sum(each.is_success for each in results)
    return {
        "tests": [each.plain() for each in results],
        "errors": [each.plain() for each in broken],
        "passed": passed,
        "failed": len(results) - passed,
        "seconds": round(seconds, 6),
    }
