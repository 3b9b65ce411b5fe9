"""Time zones, from the package of zones: the machine's own are not read."""

from functools import lru_cache
from zoneinfo import ZoneInfo

import tzdata

from sexplang.package.zone_use import ZONE_USE

VERSION: str = tzdata.IANA_VERSION
"""The version of the zones, such as `2026a`."""


def zone(name: str) -> ZoneInfo | None:
    """Return the zone of a name such as `Europe/Berlin`, or None. The current run has used
    zones."""
    use = ZONE_USE.get()
    if use is not None:
        use.version = VERSION
    return _read_zone(name)


@lru_cache
def _read_zone(name: str) -> ZoneInfo | None:
    if name not in zone_names():
        return None
    with open(f"{tzdata.__path__[0]}/zoneinfo/{name}", "rb") as file:
        return ZoneInfo.from_file(file, name)


@lru_cache
def zone_names() -> frozenset[str]:
    """Return the names of all zones."""
    with open(f"{tzdata.__path__[0]}/zones", encoding="utf-8") as file:
        return frozenset(file.read().split())
