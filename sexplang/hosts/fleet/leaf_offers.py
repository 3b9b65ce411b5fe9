"""The requests of runs that a worker leaves to others, and performs for others."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sexplang.hosts.cli.programs import permissions_of
from sexplang.hosts.settings.mcp_options import servers_of
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.runtime import Settings as RunSettings
from sexplang.runtime import performers
from sexplang.runtime.driver.events import Event
from sexplang.runtime.fleet import Engine
from sexplang.runtime.fleet.carried_requests import (
    CarriedRequests,
    Places,
    make_queue_finder,
)
from sexplang.runtime.fleet.leaf_performer import LeafPerformer
from sexplang.runtime.fleet.pressure import FleetLimits, Limit
from sexplang.runtime.fleet.reply_watch import ReplyWatch
from sexplang.runtime.journal.databases import Database, open_database
from sexplang.runtime.journal.doubts import Decision
from sexplang.runtime.models import choose_model
from sexplang.runtime.models.adapters.sdk_loader import wait
from sexplang.runtime.models.protocols import protocol_of
from sexplang.runtime.refusal import refuse
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.effect import Request

if TYPE_CHECKING:
    from sexplang.runtime.mcp import Servers

KINDS = ("model:NAME", "tool:SERVER:NAME", "script")


@frozen
class Queues:
    """The queues of a worker."""

    offered: tuple[str, ...] = ()
    """Those whose requests it performs for others."""
    left: frozenset[str] = frozenset()
    """Those whose requests it leaves to others, and performs none of them itself."""
    limits: Mapping[str, Limit] = field(factory=dict)
    """The limits of models over all workers."""


def read_queues(
    offers: tuple[str, ...],
    leaves: tuple[str, ...],
    limits: Mapping[str, Limit],
    granted: Settings,
) -> Queues:
    """Return the queues of a worker. A model goes by the name that all machines know. Raises a
    Refusal `bad-input`."""
    offered = [_read_queue("offers", each, granted) for each in offers]
    left = frozenset([_read_queue("leaves", each, granted) for each in leaves])
    bounds = {_read_queue("fleet-limit", name, granted): each for name, each in limits.items()}
    both = sorted(left.intersection(offered))
    if both:
        raise refuse(
            "bad-input",
            f"a worker either offers {both[0]} or leaves it to others",
            hint="take one of --offers and --leaves out",
        )
    whole = dict.fromkeys([*offered, *[each for each in bounds if each not in left]])
    return Queues(tuple(whole), left, bounds)


def _read_queue(option: str, word: str, granted: Settings) -> str:
    kind, _, name = word.partition(":")
    if word == "script":
        if granted.allow_run:
            return word
        raise refuse(
            "bad-input",
            f"--{option} script: this worker grants no script",
            hint="name those that it grants: --allow-run NAME",
        )
    if kind == "model" and name:
        answer = choose_model(granted.models, name)
        if not answer.is_default:
            return f"model:{answer.model}"
        raise refuse(
            "bad-input",
            f"--{option} {word}: this worker has no model of this name",
            hint=f"write model:{answer.model}, as --model has it, or a role of its own settings",
        )
    if kind == "tool" and name.partition(":")[2]:
        return word
    raise refuse(
        "bad-input",
        f"--{option} `{word}` names nothing that a worker performs",
        hint=f"write one of: {', '.join(KINDS)}",
    )


@define(eq=False)
class LeafOffers:
    """What a worker offers. Unless it was told otherwise, it leaves to others only what it offers
    itself: so what is left to others is done, whoever is there."""

    address: str = field(repr=False)
    granted: Settings
    lease: float
    places: Places
    queues: Queues = Queues()
    on_log: Callable[[str, str], None] = lambda level, text: None
    _watch: ReplyWatch | None = None
    _servers: "Servers | None" = None

    def load(self) -> None:
        """Load what calls of its models need, because a call follows its permit at once. Raises a
        Refusal for a broken installation."""
        for name in [each.removeprefix("model:") for each in self.queues.offered]:
            if (protocol := protocol_of(name)) is not None:
                wait(protocol)

    def open(self) -> Database:
        """Return a connection. Raises a Refusal."""
        return open_database(self.address, must_exist=True, lease=self.lease)

    def make_performer(self) -> LeafPerformer:
        """Return what performs requests of others, with what this worker grants."""
        self._servers = servers_of(self.granted, None)
        made: list[LeafPerformer] = []

        def watch(event: Event) -> None:
            made[0].watch(event)

        table = performers(
            RunSettings(
                run_id="worker",
                permissions=permissions_of(self.granted, None),
                log=self.on_log,
                on_event=watch,
                models=self.granted.models,
                servers=self._servers,
            )
        )
        limits = FleetLimits(self.queues.limits)
        made.append(LeafPerformer(self.open, table, self.lease, limits))
        return made[0]

    def make_carrier(
        self,
        engine: Engine,
        settings: Settings,
        declared: Mapping[str, Decision],
        priority: int,
    ) -> CarriedRequests:
        """Return the carrier of a run that this worker drives."""
        if self._watch is None:
            self._watch = ReplyWatch(self.open, self.lease)
        find_queue = make_queue_finder(settings.models)
        carried = self.queues.left.union(self.queues.offered)

        def find_offered(request: Request) -> tuple[str, Request] | None:
            found = find_queue(request)
            if found is None or found[0] not in carried:
                return None
            is_script = found[0] == "script"
            if is_script and request.arguments[:1] != () and not _may_run(request, settings):
                return None  # the run may not, whatever another worker may
            return found

        return CarriedRequests(
            engine,
            self._watch,
            self.places,
            find_offered,
            always=self.queues.left.union(self.queues.limits),
            declared=declared,
            priority=priority,
        )

    def close(self) -> None:
        """End the connections and the servers of tools."""
        if self._watch is not None:
            self._watch.close()
        if self._servers is not None:
            with suppress(Exception):  # a server that ended badly does not keep the worker
                self._servers.close()


def _may_run(request: Request, settings: Settings) -> bool:
    name: Any = request.arguments[0]
    return name in settings.allow_run
