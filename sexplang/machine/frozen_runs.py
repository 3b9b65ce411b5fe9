"""Frozen runs: a Suspended run as plain data, and back in another process.

A frozen run is a list of nodes. Each node is a list that begins with the name of its kind; a list
of one number inside a node refers to another node, so sharing is kept and nothing is recursive.
Code is named by its site in the program, or by its name in a module of the machine. The digest
identifies the program.
"""

import hashlib
import hmac
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any

from immutables import Map

from sexplang.machine import exits, handlers, stack, unwind
from sexplang.machine.limits import Limits
from sexplang.machine.link import link_program
from sexplang.machine.outcome import (
    MISMATCH,
    Conceal,
    Setting,
    State,
    Suspended,
    as_it_is,
    mismatch,
    state_of,
)
from sexplang.machine.positions.sites import Name
from sexplang.machine.positions.traceback import Trail, trail_in
from sexplang.machine.scheduler import branches
from sexplang.machine.scopes import budgets
from sexplang.machine.scopes.budgets import METER, Meter
from sexplang.machine.stack import (
    BOTTOM,
    Closure,
    Code,
    Continuation,
    Ctx,
    Kind,
    Linked,
    make_closure,
)
from sexplang.machine.tasks.model_programs import build_plan, narrow
from sexplang.terms import effect, plan, task, template
from sexplang.terms.classes.node import attributes, fields, has
from sexplang.terms.program import Program
from sexplang.terms.source import Source, Span
from sexplang.terms.task import TaskSystem
from sexplang.terms.values.rope import PLAIN, Rope, Text, whole_text
from sexplang.terms.values.sequences import Long, Middle, View, long, view
from sexplang.terms.values.value import (
    Fault,
    Higher,
    Operation,
    Primitive,
    Record,
    Symbol,
    Task,
    distinct,
    symbol,
)
from sexplang.terms.work import Work

_VERSION = 17

_NOUNS: tuple[type, ...] = (
    *(branches.SchedulerState, branches.Times, branches.Waiting, branches.Forked),
    *(branches.Queued, branches.Ready, branches.Permits, branches.Shares, branches.Claim),
    *(budgets.Scope, budgets.Bounds, budgets.Held, stack.Parent),
    *(unwind.Unwinding, exits.Lost, exits.Settled, effect.Request, plan.PlanNode, Work, Trail),
    *(task.Context, task.Conversation, task.Ask),
    *(template.Template, template.Param, template.OutputFormat, template.ContextManagement),
    *(template.FilePaths, template.Limits, template.HistoryConfig, template.Validator),
)


def freeze(
    outcome: Suspended,
    written: Callable[[str], str] = str,
    key: bytes | None = None,
    passed: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return the run as plain JSON data, with its texts as `written` makes them, sealed with a
    `key` if one is given. `passed` are the seconds for which its requests have waited. Raises Fault
    `not-data` for a value that cannot be frozen."""
    state = state_of(outcome)
    if state.pause is not None:
        raise Fault("not-data", "a run that computes is frozen when all of it waits")
    setting, limits = state.setting, state.setting.limits
    freezer = _Freezer(setting.program, setting.tasks, written)
    trail = trail_in(state.failure_site, state.scheduler.failing, setting.program)
    frozen = {
        "sexplang-frozen": _VERSION,
        "program": digest(setting.program),
        "sites": freezer.sites,
        "limits": {k: v for k, v in attributes(limits).items() if k != "held"},
        "nodes": freezer.nodes((state.scheduler, trail)),
        "passed": {**state.passed, **(passed or {})},
    }
    return {**frozen, "seal": _seal(frozen, key)}


def thaw(
    program: Program,
    frozen: Any,
    tasks: TaskSystem | None = None,
    meter: Meter = METER,
    held: Callable[[], int] | None = None,
    key: bytes | None = None,
    conceal: Conceal = as_it_is,
) -> Suspended:
    """Return the run of frozen data. `held` returns the bytes that the process holds; `conceal` is
    as for `start`. Raises Fault `frozen-mismatch` if the data belongs to another program or
    version, is damaged, or is not sealed with `key`."""
    try:
        sealed = {name: value for name, value in frozen.items() if name != "seal"}
        version = frozen["sexplang-frozen"]
        if type(version) is int and version != _VERSION:
            raise mismatch(f"it is of version {version} of frozen runs, and this is {_VERSION}")
        _check_seal(frozen["seal"], sealed, key)
        if frozen["program"] != digest(program):
            raise mismatch("it was frozen from another program")
        thawer = _Thawer(program, tasks, frozen["nodes"], conceal)
        if frozen["sites"] != thawer.sites:
            raise mismatch("its program has other sites of code here: the compiler is another one")
        root, trail = thawer.root()
        limits = Limits(**frozen["limits"], held=held)
        setting = Setting(program, tasks, limits, meter, thawed=True, conceal=conceal)
        requests = Suspended(State(root, setting)).requests
        for each in requests:
            _check_request(each)
        _check_branches(root.branches)
        ids = {each.id for each in requests}
        passed = {id: float(each) for id, each in frozen["passed"].items() if id in ids}
        if not all(each >= 0 for each in passed.values()):
            raise mismatch("it is damaged (a time that has passed)")
        return Suspended(State(root, setting, requests, failure_site=trail, passed=passed))
    except Fault as fault:
        if fault.code == MISMATCH:
            raise
        raise mismatch(f"it is damaged ({fault.code})") from fault
    except Exception as damage:  # untrusted data may fail in any of these ways
        raise mismatch(f"it is damaged ({type(damage).__name__})") from damage


def _check_request(request: effect.Request) -> None:
    """Check that a thawed request is well formed for the driver."""
    kinds = [type(each) for each in (request.id, request.operation, request.arguments)]
    if kinds != [str, str, tuple]:
        raise mismatch("it is damaged (a request)")
    if request.operation == "timer":
        (seconds,) = request.arguments
        if type(seconds) not in (int, float) or not seconds >= 0:
            raise mismatch("it is damaged (a deadline has no seconds)")


def _check_branches(table: Map[Any, Any]) -> None:
    """Each stands where it says, and where its request says; a fork waits for those it has."""
    alive = Counter(path[:-2] for path in table if path)
    for path, each in table.items():
        stands = [each.path]
        if isinstance(each, branches.Waiting):
            stands.append(branches.path_of(each.request.id))
        if {*stands} != {path} or alive.pop(path, 0) != getattr(each, "alive", 0):
            raise mismatch("it is damaged (a branch)")
    if alive:
        raise mismatch("it is damaged (a branch)")


_KEYED = "hmac-sha256:"


def _seal(frozen: dict[str, Any], key: bytes | None) -> str:
    """Return the seal of frozen data. Without a key it shows damage and is no defence."""
    data = json.dumps(frozen, sort_keys=True).encode()
    if key is None:
        return hashlib.sha256(data).hexdigest()
    return _KEYED + hmac.new(key, data, "sha256").hexdigest()


def _check_seal(seal: Any, frozen: dict[str, Any], key: bytes | None) -> None:
    keyed = isinstance(seal, str) and seal.startswith(_KEYED)
    if keyed and key is None:
        raise mismatch("it is sealed with a key", "give that key: thaw(program, data, key=…)")
    if key is not None and not keyed:
        raise mismatch("it is not sealed with a key", "seal it with one: freeze(run, key=…)")
    if not hmac.compare_digest(str(seal).encode(), _seal(frozen, key).encode()):
        if key is None:
            raise mismatch("it is damaged")
        raise mismatch("it is damaged, or sealed with another key", "give the key of `freeze`")


def digest(program: Program) -> str:
    """Return the identity of a program's code: its sources and this version of the compiler."""
    made = hashlib.sha256(f"sexplang {_VERSION}".encode())
    for source in program.sources:
        made.update(json.dumps([program.relative_name(source), source.text]).encode())
    return made.hexdigest()


_PACKAGE = __name__.rpartition(".")[0] + "."


def machine_code() -> Iterator[tuple[str, Any]]:
    """Return the functions and kinds of the machine's modules, by module and name. Another thread
    may load modules meanwhile."""
    for module in sorted(name for name in list(sys.modules) if name.startswith(_PACKAGE)):
        for name, value in list(vars(sys.modules[module]).items()):
            if isinstance(value, Kind):
                yield f"{module}:{name}", value
                if value.stripped is not value:
                    yield f"{module}:{name}.stripped", value.stripped
                for operation, clauses in value.clauses.items():
                    for at, clause in enumerate(clauses):
                        yield f"{module}:{name}.{operation}.{at}", clause
            elif isinstance(value, FunctionType) and value.__module__ == module:
                yield f"{module}:{name}", value


class _Points:
    """The code of one linked program: functions by index, other code by site."""

    def __init__(self, program: Program, tasks: TaskSystem | None) -> None:
        _, self.linked, _ = link_program(program, tasks)
        self._sites = self.linked.sites

    def of(self, item: Any) -> int | Name | None:
        """Return the name of a piece of code, or None if it is not the program's."""
        if type(item) is Code:
            return item.index if self.linked.codes.get(item.index) is item else None
        return self._sites.name(item)

    def at(self, name: Any) -> Any:
        """Return the piece of code of a name. Raises LookupError."""
        return self.linked.codes[name] if type(name) is int else self._sites.code(tuple(name))


class _Freezer:
    def __init__(
        self, program: Program, tasks: TaskSystem | None, written: Callable[[str], str]
    ) -> None:
        self._points = _Points(program, tasks)
        self.sites = self._points.linked.sites.digest
        self._linked = self._points.linked
        self._machine = {id(code): name for name, code in machine_code()}
        self._written = written
        self._relative_name = program.relative_name
        self._nouns = {kind: kind.__qualname__ for kind in _nouns(tasks)}
        self._numbers: dict[Any, int] = {}
        self._found: list[Any] = []

    def nodes(self, root: Any) -> list[Any]:
        self._reference(root)
        made = []
        at = 0
        while at < len(self._found):
            made.append(self._node(self._found[at]))
            at += 1
        return made

    def _reference(self, item: Any) -> Any:
        """Return a scalar as it is, and for any other value a reference to its node."""
        kind = type(item)
        if item is None or kind is bool or kind is int:
            return item
        if kind is str and len(item) <= PLAIN:
            return self._written(item)
        # Equal texts and floats are one node: which of them are one object, Python decides.
        name = item if kind is str else (repr(item),) if kind is float else id(item)
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = len(self._found)
            self._found.append(item)
        return [number]

    def _each(self, items: Any) -> list[Any]:
        return [self._reference(item) for item in items]

    def _keys(self, table: dict[Any, Any]) -> Any:
        """Return the keys as they are written. If two become one, the later is numbered."""
        if self._written is str:
            return table
        return distinct(table, lambda key: self._written(key) if type(key) is str else key)

    def _node(self, item: Any) -> list[Any]:
        kind = type(item)
        if item is BOTTOM:
            return ["bottom"]
        if kind is tuple:
            return ["tuple", *self._each(item)]
        if kind is str:
            return ["text", self._written(item)]
        if kind is Rope:
            return ["rope", self._reference(item.parts), item.size]
        if kind is View:
            return ["view", self._reference(item.items), item.start]
        if kind is Long:
            return ["long", *self._each([item.head, item.middle, item.tail])]
        if kind is Middle:
            return ["middle", *self._each(item.parts)]
        if kind is list:
            return ["list", *self._each(item)]
        if kind is dict:
            return ["dict", len(item), *self._keys(item), *self._each(item.values())]
        if kind is float:
            return ["float", repr(item)]
        if kind is Record:
            parts = [item.fields, item.answer, item.conversation]
            return ["record", item.kind, *self._each(parts)]
        if isinstance(item, Symbol):
            return ["symbol", self._written(item.name)]
        if kind is Map:
            pairs = sorted(item.items(), key=lambda pair: repr(pair[0]))
            return ["map", *self._each([part for pair in pairs for part in pair])]
        if kind is Ctx:
            bounds = [item.scopes, item.expired_scopes, item.work, item.jobs, item.plans]
            keys = _keys(item.linked)
            return ["context", *self._each([item.conversations, *bounds, *keys])]
        if kind is Closure:
            return ["closure", self._reference(item.code), self._reference(item.env)]
        if kind is Continuation:
            place = self._each([item.segments, item.origin])
            return ["continuation", *place, item.cleanup, item.resumable]
        if kind is handlers.Crossing:
            place = self._each([item.k, item.s, item.node])
            return ["crossing", *place, item.level, item.resumable]
        if isinstance(item, Span):  # a form from a macro is where the macro is used
            source = self._relative_name(item.source)
            return ["span", self._written(source), item.start, item.end]
        if isinstance(item, (Primitive, Higher, Operation)):
            return [kind.__name__.lower(), *self._each(_procedure(item))]
        if isinstance(item, Task):
            return ["task", item.name, *self._each(self._key_of(item))]
        if item is handlers.ACROSS:
            return ["across"]
        name = self._nouns.get(kind)
        if name is not None and has(kind):
            values = [getattr(item, each.name) for each in fields(kind)]
            return ["noun", name, *self._each(values)]
        return self._code(item)

    def _key_of(self, task: Task) -> tuple[Any, ...]:
        """Return the key of the plan that defines a task; empty for one of the program itself."""
        plans = self._linked.plans.items()
        found = [key for key, made in plans if any(task is each for each in made.tasks)]
        return found[0] if found else ()

    def _code(self, item: Any) -> list[Any]:
        name = self._machine.get(id(item))
        if name is not None:
            return ["code", name]
        found = self._points.of(item)
        if found is not None:
            return ["site", *found] if isinstance(found, tuple) else ["function", found]
        for key, made in self._linked.plans.items():
            found = _Points(made, self._linked.tasks).of(item)
            if found is not None:
                return ["plan", self._reference(found), *self._each(key)]
        raise Fault("not-data", f"a {type(item).__name__} cannot be frozen")


def _keys(linked: Linked) -> list[Any]:
    """Return the keys of a linked program's plans, outermost first; none for the program itself."""
    keys = []
    while linked.around is not None:
        keys.append(linked.key)
        linked = linked.around
    return keys[::-1]


def _procedure(item: Any) -> list[Any]:
    """Return the data that a primitive, a prelude function or an operation is rebuilt from."""
    if isinstance(item, Operation):
        text = tuple(sorted(item.text))
        return [item.name, item.params, item.least, item.rest, text, item.doc]
    return [item.name]


def _nouns(tasks: TaskSystem | None) -> tuple[type, ...]:
    return _NOUNS + (tasks.nouns if tasks is not None else ())


class _Thawer:
    def __init__(
        self, program: Program, tasks: TaskSystem | None, nodes: list[Any], conceal: Conceal
    ) -> None:
        self._points = _Points(program, tasks)
        self.sites = self._points.linked.sites.digest
        self._linked = self._points.linked
        self._machine = dict(machine_code())
        self._sources = {
            conceal(program.relative_name(source)): source for source in program.sources
        }
        self._nouns = {kind.__qualname__: kind for kind in _nouns(tasks)}
        self._prelude = program.prelude
        self._nodes = nodes
        self._made: dict[int, Any] = {}

    def root(self) -> Any:
        """Return the value of the first node. A node is looked at once before what it refers to is
        made, and once after."""
        work, made, begun = [0], self._made, set[int]()
        while work:
            at = work[-1]
            if at in made:
                work.pop()
                continue
            node = self._nodes[at]
            if at in begun:
                made[at] = self._item(node)
                continue
            begun.add(at)
            waiting = [other for other in _references(node) if other not in made]
            if not begun.isdisjoint(waiting):
                raise mismatch("it is damaged (it refers to itself)")
            work.extend(reversed(waiting))
        return made[0]

    def _get(self, reference: Any) -> Any:
        return self._made[reference[0]] if type(reference) is list else reference

    def _item(self, node: list[Any]) -> Any:
        word, *parts = node
        if word == "tuple":
            return tuple([self._get(part) for part in parts])
        if word == "text":
            return parts[0]
        if word == "rope":
            return _rope(self._get(parts[0]))
        if word == "view":
            return view(*map(self._get, parts))
        if word == "long":
            return long(*map(self._get, parts))
        if word == "middle":
            return Middle(*map(self._get, parts))
        if word == "list":
            return [self._get(part) for part in parts]
        if word == "dict":
            count = parts[0]
            return dict(zip(parts[1 : count + 1], map(self._get, parts[count + 1 :]), strict=True))
        if word == "float":
            return float(parts[0])
        if word == "record":
            return Record(*map(self._get, parts))
        if word == "symbol":
            return symbol(parts[0])
        if word == "map":
            items = [self._get(part) for part in parts]
            return Map(zip(items[::2], items[1::2], strict=True))
        if word == "context":
            conversations, scopes, expired_scopes, doing, jobs, plans, *keys = map(self._get, parts)
            linked = self._linked
            for key in keys:
                linked = narrow(linked, key)
            return Ctx(linked, conversations, scopes, expired_scopes, doing, jobs, plans)
        if word == "closure":
            return make_closure(*map(self._get, parts))
        if word == "continuation":
            return Continuation(*map(self._get, parts[:2]), *parts[2:])
        if word == "crossing":
            return handlers.Crossing(*map(self._get, parts))
        if word == "span":
            return Span(self._sources.get(parts[0]) or Source(parts[0], ""), *parts[1:])
        if word in ("primitive", "higher"):
            return self._prelude[self._get(parts[0])]
        if word == "operation":
            name, params, least, rest, text, doc = map(self._get, parts)
            return Operation(name, params, least, rest, frozenset(text), doc)
        if word == "task":
            name, *key = map(self._get, parts)
            linked = narrow(self._linked, tuple(key)) if key else self._linked
            return linked.known[name]
        if word == "bottom":
            return BOTTOM
        if word == "across":
            return handlers.ACROSS
        if word == "noun":
            return self._nouns[parts[0]](*[self._get(part) for part in parts[1:]])
        if word == "plan":
            made = build_plan(self._linked, tuple(map(self._get, parts[1:])))
            return _Points(made, self._linked.tasks).at(self._get(parts[0]))
        if word == "code":
            return self._machine[parts[0]]
        if word == "function":
            return self._points.at(parts[0])
        if word == "site":
            return self._points.at(parts)
        raise mismatch(f"it is damaged (`{word}`)")


def _rope(parts: Any) -> Text:
    """Return the long text of its parts. The parts may be of any length."""
    made = Rope(parts, len(parts) if isinstance(parts, str) else sum(map(len, parts)))
    return made if made.size > PLAIN else whole_text(made)


def _references(node: list[Any]) -> list[int]:
    """Return the nodes that a node refers to."""
    return [part[0] for part in node[1:] if type(part) is list]
