"""`sexplang doctor`: what is installed, which models answer, what applies here, what to type."""

import os
from glob import glob
from shlex import quote
from typing import Any

from sexplang.hosts.cli.guard import DONE, FAILED
from sexplang.hosts.projects.doctor_report import format_report
from sexplang.hosts.projects.documents import format_document
from sexplang.hosts.projects.folder_settings import FolderSettings, read_folder_settings
from sexplang.hosts.projects.installation import describe_installation
from sexplang.hosts.projects.kept_store import describe_store
from sexplang.hosts.projects.model_states import ModelState, list_keys, list_models
from sexplang.hosts.settings.mcp_options import permit
from sexplang.terms.classes.node import attributes
from sexplang.terms.texts.address import split_credentials


def doctor(*, asks: bool, as_json: bool) -> int:
    """Print what is found; return 0 if a program that runs here has a model to ask, else 1."""
    folder = os.getcwd()
    here = read_folder_settings(folder)
    models = list_models(here, folder, asks=asks)
    is_sound = not any(each.problem for each in here.configurations)
    report: dict[str, Any] = {
        "is_ready": is_sound and any(each.is_usable for each in models),
        **describe_installation(),
        "configurations": [dict(attributes(each)) for each in here.configurations],
        "models": [dict(attributes(each)) for each in models],
        "environment": list_keys(),
        "permissions": _describe_permissions(here),
        "limits": {
            name: {"value": most, "path": path} for name, (most, path) in here.limits.items()
        },
        "runs": describe_store(here.runs),
    }
    report["next"] = _list_next(report, models, asks)
    print(format_document(report) if as_json else format_report(report))
    return DONE if report["is_ready"] else FAILED


def _describe_permissions(here: FolderSettings) -> dict[str, Any]:
    """Return what the person's configuration allows, and the servers that still need an option."""
    servers = []
    for each in here.servers:
        way = each.words[0] if each.url is None else split_credentials(each.url)[0]
        servers.append({"name": each.name, "needs": permit(way)})
    return {
        "python": list(here.python),
        "headers": list(here.headers),
        "secrets": [{"name": name, "is_set": bool(os.environ.get(name))} for name in here.secrets],
        "servers": servers,
    }


def _list_next(report: dict[str, Any], models: list[ModelState], asks: bool) -> list[str]:
    """Return the commands to type next."""
    usable = [each for each in models if each.is_usable]
    broken = [each["path"] for each in report["configurations"] if each["problem"]]
    commands = [f"${{EDITOR:-vi}} {quote(path)}" for path in broken]
    if not usable:
        extra = next(each for each in report["extras"] if each["name"] == "local")
        missing = [each["install"] for each in (extra, report["weights"]) if "install" in each]
        commands += [" && ".join(missing)] if missing else []
        commands.append("export ANTHROPIC_API_KEY=…")
    if report["runs"].get("waiting"):
        commands.append("sexplang runs questions")
    if glob("*.test.sexp"):
        commands.append("sexplang test .")
    else:
        commands.append("sexplang init notes")
    if usable and not asks:
        commands.append("sexplang doctor --ask")
    return commands
