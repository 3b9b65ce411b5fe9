"""The report of `doctor` as text."""

from typing import Any

from sexplang.hosts.projects.folder_settings import name_path
from sexplang.hosts.terminal.show import draw_hidden

MOST = 5
"""The runs of a state that are named."""


def format_report(report: dict[str, Any]) -> str:
    """Return the report as text, a section for each part."""
    version = report["version"]
    named = f"sexplang {version}" if version else "sexplang, from a checkout that is not installed"
    sections = {
        "Installed": _list_installed(report),
        "Configuration": _list_configurations(report),
        "Models": _list_models(report),
        "Environment": _list_environment(report),
        "Permissions and limits": _list_permissions(report),
        "Runs": _list_runs(report["runs"]),
        "Now type": [(command, "") for command in report["next"]],
    }
    head = f"{named}, Python {report['python']}, {report['platform']}"
    parts = [head, *[_format_section(title, rows) for title, rows in sections.items()]]
    return "\n\n".join(parts)


Rows = list[tuple[str, str]]


def _format_section(title: str, rows: Rows) -> str:
    width = max((len(name) for name, words in rows if words), default=0)
    lines = [f"  {name:<{width}}  {words}".rstrip() for name, words in rows]
    return "\n".join(draw_hidden(line) for line in (title, *lines))


def _list_installed(report: dict[str, Any]) -> Rows:
    rows = []
    for each in report["extras"]:
        versions = ", ".join(f"{name} {number}" for name, number in each["versions"].items())
        rows.append(
            (each["name"], versions if each["is_installed"] else f"missing: {each['install']}")
        )
    weights = report["weights"]
    if weights["path"] is None:
        return [*rows, ("weights", f"missing: {weights['install']}")]
    return [*rows, ("weights", f"{name_path(weights['path'])}, {_size(weights['bytes'])}")]


def _list_configurations(report: dict[str, Any]) -> Rows:
    rows = []
    for each in report["configurations"]:
        whose = "your own" if each["is_own"] else "the project's"
        words = f"cannot be used: {each['problem']}" if each["problem"] else whose
        rows.append((name_path(each["path"]), words))
    return rows or [("none: there is no sexplang.toml here or above, and none of your own", "")]


def _list_models(report: dict[str, Any]) -> Rows:
    rows, hints = [], set[str]()
    for each in report["models"]:
        said = f" ({each['source']})" if each["source"] else ""
        model = f"{each['model']}{said}: " if each["model"] else ""
        rows.append((each["name"], f"{model}{_state(each)}"))
        if each["hint"] and each["hint"] not in hints:
            hints.add(each["hint"])
            rows.append(("", f"= hint: {each['hint']}"))
    return rows


def _state(each: dict[str, Any]) -> str:
    if not each["is_ready"]:
        return f"not ready: {each['words']}"
    if each["answers"] is None:
        return "ready"
    return each["words"] if each["answers"] else f"does not answer: {each['words']}"


def _list_environment(report: dict[str, Any]) -> Rows:
    rows = []
    for each in report["environment"]:
        if each["is_set"]:
            rows.append((each["name"], each.get("address", "is set")))
        elif "KEY" in each["name"]:
            rows.append((each["name"], "is not set"))
    return rows


def _list_permissions(report: dict[str, Any]) -> Rows:
    allowed = report["permissions"]
    rows = [
        ("read", "below the program's own folder; more with --allow-read PATH"),
        ("write", "nothing; --allow-write PATH"),
        ("run", "nothing; --allow-run NAME"),
        ("net", "the models that you name; --allow-net HOST"),
    ]
    python = ", ".join(map(name_path, allowed["python"])) or "nothing"
    rows.append(("python", f"{python}; --allow-python FILE"))
    if allowed["headers"]:
        rows.append(("headers", f"for {', '.join(allowed['headers'])}"))
    for each in allowed["secrets"]:
        rows.append(("secret", f"{each['name']} {'is' if each['is_set'] else 'is not'} set"))
    for each in allowed["servers"]:
        rows.append(("mcp", f"{each['name']} needs {each['needs']}"))
    for name, each in report["limits"].items():
        rows.append(("limit", f"{name} {each['value']:,} ({name_path(each['path'])})"))
    return rows if report["limits"] else [*rows, ("limits", "the usual ones; --limit NAME=N")]


def _list_runs(runs: dict[str, Any]) -> Rows:
    if runs["store"] is None:
        return [("not kept: SEXPLANG_STORE is empty", "")]
    where = name_path(runs["store"])
    if not runs["is_kept"]:
        return [("not kept: your configuration says `keep = false`", "")]
    if runs["is_server"]:
        return [("store", f"{where}, on a server: `sexplang runs list` asks it")]
    if not runs["is_there"]:
        return [("store", f"{where}, made by the first run that is kept")]
    if "problem" in runs:
        return [("store", runs["problem"])]
    rows = [("store", f"{where}, {_size(runs['bytes'])}, {runs['days']:g} days")]
    rows.append(("kept", f"{runs['runs']:,}: sexplang runs list --all"))
    for state in ("waiting", "interrupted"):
        if runs[state]:
            some, more = runs[state][:MOST], len(runs[state]) - MOST
            rows.append((state, ", ".join(some) + (f" and {more:,} more" if more > 0 else "")))
    return rows


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
