"""For tests: Hypothesis strategies for forms, values, programs and scripts, and scripts run as
tests.

`run_script` needs only this package. The strategies need Hypothesis, which the extra
`sexplang[testing]` installs. `spec/11-embedding.md` shows both.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sexplang.testing.script_player import Mismatch, run_script
    from sexplang.testing.strategies import forms, programs, scripts, values

__all__ = ["Mismatch", "forms", "programs", "run_script", "scripts", "values"]

_PLACES = {"Mismatch": "script_player", "run_script": "script_player"}


def __getattr__(name: str) -> Any:
    # The pytest plugin is here too, and must not import Hypothesis into every test run.
    if name in __all__:
        from importlib import import_module

        module = import_module(f"sexplang.testing.{_PLACES.get(name, 'strategies')}")
        return getattr(module, name)
    raise AttributeError(f"module 'sexplang.testing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
