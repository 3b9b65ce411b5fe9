"""Warnings about OpenTelemetry variables that are not supported."""

import os
from collections.abc import Iterator

SPOKEN = "http/protobuf"

SAMPLERS = ("always_on", "always_off", "traceidratio")
"""Supported samplers, also with the prefix `parentbased_`."""


def list_unsupported(to_file: bool) -> Iterator[str]:
    """Yield one warning per unsupported variable. With `to_file`, variables of collectors are
    ignored."""
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        protocol = _read_variable(name)
        if protocol and not to_file:
            if protocol != SPOKEN:
                yield (
                    f"{name}={protocol} is not spoken: spans go by {SPOKEN}; set it to that, and "
                    "the endpoint to where the collector takes HTTP (port 4318 by default)"
                )
            break
    exporter = _read_variable("OTEL_TRACES_EXPORTER")
    if exporter not in ("", "otlp", "none"):
        yield f"OTEL_TRACES_EXPORTER={exporter} is not known here: spans go by otlp; set it to that"
    yield from _sampler(
        _read_variable("OTEL_TRACES_SAMPLER"), _read_variable("OTEL_TRACES_SAMPLER_ARG")
    )


def _sampler(name: str, share: str) -> Iterator[str]:
    kind = name.removeprefix("parentbased_")
    if name and kind not in SAMPLERS:
        known = ", ".join((*SAMPLERS, "parentbased_always_on", "…"))
        yield f"OTEL_TRACES_SAMPLER={name} is not known: every run is traced; set one of {known}"
    elif kind == "traceidratio" and share and not _is_share(share):
        yield (
            f"OTEL_TRACES_SAMPLER_ARG={share} is no share of the runs: every run is traced; set a "
            "number from 0 to 1"
        )


def _is_share(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False


def _read_variable(name: str) -> str:
    return os.environ.get(name, "").strip().lower()
