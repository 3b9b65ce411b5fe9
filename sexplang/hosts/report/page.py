"""The report of a run as one HTML page without network or other files.

The rows are visible without the script. It folds, finds and sorts them and formats raw JSON.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sexplang.hosts.report.conversation import SAYING, conversation, data, error_of, turn
from sexplang.hosts.report.entries import (
    Run,
    Sum,
    model_in_program,
    model_of,
    model_of_host,
    sum_doubts,
)
from sexplang.hosts.report.graph import draw, graph, mermaid
from sexplang.hosts.report.markup import Html, digest, inline_json, start, tag
from sexplang.runtime.journal.recording_reader import Entry
from sexplang.terms.json.tagged import dump
from sexplang.terms.model.roles import normalize_name
from sexplang.terms.values.abbreviation import shorten_names

DEEPEST = 24
"""The deepest nesting of rows; a deeper row is beside its parent."""

FEW = 400
"""The most rows that are all unfolded."""

HEADS = ("what", "when", "seconds", "tokens", "US dollars", "tries")


def page(run: Run) -> str:
    """Return the page of a run."""
    style, script = _read_asset("page.css"), _read_asset("page.js")
    policy = f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}"
    head = tag(
        "head",
        start("meta", charset="utf-8"),
        start(
            "meta",
            http_equiv="Content-Security-Policy",
            content=Html(f"{policy}; base-uri 'none'; form-action 'none'"),
        ),
        start("meta", name="viewport", content="width=device-width"),
        tag("title", f"{run.root.name}: {run.state}"),
        tag("style", Html(style)),
    )
    rows = dump([entry.plain for entry in run.recording.rows])
    body = tag(
        "body",
        *_top(run),
        *_graph(run),
        _bar(),
        tag("div", *[tag("span", each, class_="head") for each in HEADS], class_="cells"),
        tag("main", *_tree(run)),
        tag("script", inline_json(rows), type="application/json", id="rows"),
        tag("script", Html(script)),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _read_asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _withdrawn(count: int) -> str:
    return f", {count:,} withdrawn" if count else ""


def _describe_uncounted(count: int) -> str:
    return f", {count:,} attempts not counted" if count else ""


def _describe_doubt(doubt: dict[str, str]) -> str:
    again = "not performed again" if doubt["decision"] == "never" else "performed again"
    paid = ", maybe paid twice" if doubt["operation"] == "model" and again[0] == "p" else ""
    return f"{doubt['operation']} ({doubt['id']}) {again}{paid}"


def _describe_bill(doubtful: Sum) -> str:
    calls = f"{doubtful.calls:,} {'call' if doubtful.calls == 1 else 'calls'} of a model"
    usd = "not known" if doubtful.usd is None else f"{doubtful.usd:.4f}"
    return f"{calls}, tokens {doubtful.tokens_in:,}, {doubtful.tokens_out:,}, US dollars {usd}"


def _top(run: Run) -> Iterator[Html]:
    total = run.sums[run.root.number]
    began = datetime.fromtimestamp(run.root.began, UTC)
    facts = {
        "state": run.state,
        "began": f"{began:%Y-%m-%d %H:%M:%S} UTC",
        "seconds": _seconds(run.seconds(run.root)),
        "requests": f"{total.rows:,}",
        "model calls": f"{total.calls:,}{_withdrawn(total.withdrawn)}",
        "tokens in, out": f"{total.tokens_in:,}, {total.tokens_out:,}"
        f"{_describe_uncounted(total.uncounted)}",
        "US dollars": "not known" if total.usd is None else f"{total.usd:.4f}",
        "errors": f"{total.errors:,}",
        "further tries": f"{total.tries:,}",
        "run": run.recording.run,
    }
    said = [(name, each.model) for name, each in run.recording.answers.items() if name]
    others = [f"{name} is {model}" for name, model in said if model != normalize_name(name)]
    if others:
        facts["models"] = "; ".join(others)
    if run.recording.doubts:
        facts["in doubt"] = "; ".join(map(_describe_doubt, run.recording.doubts))
        doubtful = sum_doubts(run)
        if doubtful.calls:
            facts["maybe paid beside"] = _describe_bill(doubtful)
    yield tag("h1", run.root.name)
    yield tag("dl", *[tag("div", tag("dt", key), tag("dd", fact)) for key, fact in facts.items()])
    if run.root.error is not None:
        yield error_of(run.root.error)


def _graph(run: Run) -> Iterator[Html]:
    nodes = graph(run.root)
    if len(nodes) > 1:
        yield tag(
            "details",
            tag("summary", tag("h2", "Graph")),
            draw(nodes),
            tag("details", tag("summary", "as Mermaid"), tag("pre", mermaid(nodes), id="mermaid")),
            open=True,
        )


def _bar() -> Html:
    orders = {"at": "time", "seconds": "seconds", "tokens": "tokens", "usd": "US dollars"}
    return tag(
        "div",
        tag("button", "unfold", id="unfold"),
        tag("button", "fold", id="fold"),
        start("input", id="find", placeholder="find a name"),
        tag("label", start("input", type="checkbox", id="failed"), " only what failed"),
        tag(
            "label",
            "by ",
            tag(
                "select",
                *[tag("option", word, value=by) for by, word in orders.items()],
                id="order",
            ),
        ),
        class_="tools-bar",
    )


def _tree(run: Run) -> Iterator[Html]:
    """Yield the rows, each within its parent's."""
    order = {entry.number: at for at, entry in enumerate(run.recording.rows)}
    work: list[tuple[Entry, int] | Html] = [(run.root, 0)]
    close = Html("</details>")
    while work:
        item = work.pop()
        if isinstance(item, Html):
            yield item
            continue
        entry, depth = item
        yield _open_row(run, entry, depth, order.get(entry.number))
        below = [(each, depth + 1) for each in reversed(entry.below)]
        if depth < DEEPEST:
            work.append(close)
            work += below
        else:
            yield close
            work += below


def _open_row(run: Run, entry: Entry, depth: int, at: int | None) -> Html:
    """Return the start of a row with its details; its end follows the rows below."""
    total = run.sums[entry.number]
    is_open = bool(entry.below) and (depth < 3 or len(run.recording.rows) <= FEW)
    words = [
        start(
            "details",
            class_=" ".join(["row", *_classes(entry)]),
            open=is_open,
            data_row=entry.row.id if entry.row is not None else None,
            data_place=at,
            data_at=entry.began,
            data_seconds=run.seconds(entry),
            data_tokens=total.tokens_in + total.tokens_out,
            data_usd=total.usd or 0,
        ),
        tag("summary", _cells(run, entry, depth)),
        *_body(entry, at, depth),
    ]
    return Html("".join(words))


def _classes(entry: Entry) -> Iterator[str]:
    yield "model" if entry.name == "model" and entry.kind == "request" else "work"
    if entry.error is not None:
        yield "failed"
    elif entry.cut:
        yield "cut"
    elif entry.ended is None:
        yield "open"


def _cells(run: Run, entry: Entry, depth: int) -> Html:
    total = run.sums[entry.number]
    tokens = f"{total.tokens_in:,} + {total.tokens_out:,}" if total.calls else ""
    usd = f"{total.usd:.4f}" if total.usd else "?" if total.usd is None else ""
    return tag(
        "span",
        tag("span", *_name(run, entry), class_=f"name d{min(depth, DEEPEST)}"),
        _timeline(run, entry),
        tag("span", _seconds(run.seconds(entry)), class_="num"),
        tag("span", tokens, class_="num"),
        tag("span", usd, class_="num"),
        tag("span", f"+{total.tries}" if total.tries else "", class_="num"),
        class_="cells",
    )


def _name(run: Run, entry: Entry) -> Iterator[str]:
    if entry.kind in ("request", "task"):
        yield entry.name
    else:
        yield f"{entry.kind} {entry.name}"
    said = [_first(entry), _models(run, entry), entry.position]
    if entry.cut:
        said.append("cut short")
    if entry.ended is None:
        said.append("not over when the recording stops")
    yield tag("small", " ".join(["", *[each for each in said if each]]))
    errors = run.sums[entry.number].errors
    if errors and entry.kind != "request":
        yield tag("span", f"{errors} {'error' if errors == 1 else 'errors'}", class_="badge")


def _models(run: Run, entry: Entry) -> str | None:
    """Return the model that was named and the model that answered."""
    named, model = model_in_program(entry), model_of(entry)
    if named is None and model is None and entry.row is not None:
        asked = model_of_host(run, entry)
        return asked and f"{asked} (no answer)"
    if named is None or named == model:
        return model
    return f"{named} → {model or model_of_host(run, entry) or 'nobody'}"


def _first(entry: Entry) -> str | None:
    """Return the first argument of an operation if it is text: a path, a name, some words."""
    arguments = entry.row.arguments if entry.row is not None else ()
    first = arguments[0] if arguments else None
    return shorten_names(first) if isinstance(first, str) else None


def _timeline(run: Run, entry: Entry) -> Html:
    whole = max(run.until - run.root.began, 1e-9)
    x = 1000 * min(max(entry.began - run.root.began, 0.0), whole) / whole
    width = max(1000 * run.seconds(entry) / whole, 2.0)
    rect = tag("rect", x=f"{min(x, 998):.2f}", width=f"{min(width, 1000 - x):.2f}", height=10)
    return tag("svg", rect, class_="bar", viewBox="0 0 1000 10", preserveAspectRatio="none")


def _body(entry: Entry, at: int | None, depth: int) -> Iterator[Html]:
    parts: list[Html] = []
    if entry.error is not None and entry.above is not None:
        parts.append(error_of(entry.error))
    if entry.retries:
        parts.append(tag("p", "attempts that failed before:", class_="note"))
        parts += [error_of(each) for each in entry.retries]
    row, said = entry.row, turn(entry)
    if row is not None:
        parts.append(tag("p", f"request {row.id}, attempts: {row.attempts}", class_="note"))
        if said is not None:
            parts.append(said)
        elif not row.failed:
            parts += [data(row.arguments), tag("p", "gives", class_="note"), data(row.reply)]
        else:
            parts.append(data(row.arguments))
        parts.append(
            tag("details", tag("summary", "raw JSON"), tag("pre", class_="raw", data_at=at))
        )
    elif said is not None:
        parts.append(said)
    else:
        talk = conversation([each for each in entry.below if each.kind in SAYING])
        if talk is not None:
            parts.append(tag("details", tag("summary", "the conversation"), talk))
    if parts:
        body = tag("div", *parts, class_="body")
        yield tag("div", body, class_=f"d{min(depth, DEEPEST)}")


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:,.2f} s"
