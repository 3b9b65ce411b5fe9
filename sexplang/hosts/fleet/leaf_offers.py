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
from sexplang.runtime.refusal import refuse
from sexplang.terms.classes.node import define, field
from sexplang.terms.effect import Request

if TYPE_CHECKING:
    from sexplang.runtime.mcp import Servers

KINDS = ("model:NAME", "tool:SERVER:NAME", "script")


def read_offers(
    words: tuple[str, ...], limits: Mapping[str, Limit], granted: Settings
) -> tuple[tuple[str, ...], dict[str, Limit]]:
    """Return the queues of a worker, and the limits of its models. A model goes by the name that
    all machines know. Raises a Refusal `bad-input`."""
    queues = [_read_offer(word, granted) for word in words]
    bounds = {_read_offer(name, granted): each for name, each in limits.items()}
    return tuple(dict.fromkeys([*queues, *bounds])), bounds


def _read_offer(word: str, granted: Settings) -> str:
    kind, _, name = word.partition(":")
    if word == "script":
        if granted.allow_run:
            return word
        raise refuse(
            "bad-input",
            "--offers script: this worker may run no script",
            hint="name those that it may run: --allow-run NAME",
        )
    if kind == "model" and name:
        return f"model:{choose_model(granted.models, name).model}"
    if kind == "tool" and name:
        return word
    raise refuse(
        "bad-input",
        f"`{word}` is nothing that a worker can offer",
        hint=f"write one of: {', '.join(KINDS)}",
    )


@define(eq=False)
class LeafOffers:
    """What a worker offers. It leaves to others only what it offers itself: so what is left to
    others is done, whoever is there."""

    address: str = field(repr=False)
    granted: Settings
    lease: float
    places: Places
    queues: tuple[str, ...] = ()
    limits: Mapping[str, Limit] = field(factory=dict)
    on_log: Callable[[str, str], None] = lambda level, text: None
    _watch: ReplyWatch | None = None
    _servers: "Servers | None" = None

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
        made.append(LeafPerformer(self.open, table, self.lease, FleetLimits(dict(self.limits))))
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

        def find_offered(request: Request) -> tuple[str, Request] | None:
            found = find_queue(request)
            if found is None or found[0] not in self.queues:
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
            limited=frozenset(self.limits),
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
