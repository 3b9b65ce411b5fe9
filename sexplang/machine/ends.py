"""How a run ends: with a value, or with an error."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from sexplang.machine.scopes import NO_ACCOUNTS, Accounts
from sexplang.terms.brief import shown
from sexplang.terms.node import field, frozen
from sexplang.terms.text import plain
from sexplang.terms.value import Fault, Record, Value
from sexplang.terms.work import Begins, Ends

if TYPE_CHECKING:
    from sexplang.machine.traceback import Trail

Told: TypeAlias = tuple[Begins | Ends, ...]

Conceal: TypeAlias = Callable[[Any], Any]
"""What leaves a run with its error → the same without what nobody is to see."""


def as_it_is(value: Any) -> Any:
    """Conceals nothing."""
    return value


@frozen
class Done:
    """The program has its value."""

    value: Value
    withdrawn: tuple[str, ...] = ()
    _told: Told = field(default=(), eq=False)
    accounts: Accounts = field(default=NO_ACCOUNTS, eq=False)
    """What each deadline and budget of the run ended with."""

    def __repr__(self) -> str:
        return f"Done({shown(self.value)})"


@frozen(eq=False)
class Failed(Exception):
    """The program ended with an error record that nothing took. `run` raises it."""

    error: Record
    withdrawn: tuple[str, ...] = ()
    _told: Told = ()
    accounts: Accounts = NO_ACCOUNTS

    _stood: Any = field(default=None, init=False)
    """Where the program failed, and what it is; another process is not told."""

    def __repr__(self) -> str:
        return f"Failed({shown(str(self))})"

    @property
    def trail(self) -> "Trail":
        """The calls that the program was in when it failed, and its variables there; nothing
        where that is not known."""
        from sexplang.machine.traceback import Trail, trail_in  # a run that succeeds needs none

        if self._stood is None:
            return Trail()
        stood, setting = self._stood
        trail = trail_in(stood, self.error, setting.program)
        if trail is None:
            return Trail()
        return Trail(*setting.conceal((trail.calls, trail.variables)))

    def __str__(self) -> str:
        fields = self.error.fields
        return f"{fields['type']} {fields['reason']}: {fields['message']}"

    @property
    def reason(self) -> str:
        """The error's reason: a word such as `division-by-zero`."""
        return str(self.error.fields["reason"])

    @property
    def details(self) -> dict[str, Any]:
        """The error's details, as plain data."""
        try:
            found: dict[str, Any] = plain(self.error.fields["details"])
        except Fault:  # they hold a function
            return {}
        return found


def told_of(outcome: Any) -> Told:
    """The work that began and ended by the last delivery, in a run that is traced."""
    told: Told = outcome._told
    return told
