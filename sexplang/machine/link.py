"""The linker: a program to code that can run, all functions compiled and all units in a row.

A program is compiled once for each task system that it runs with.
"""

from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary, ref

import sexplang.machine.code.calls
import sexplang.machine.code.effects
import sexplang.machine.code.loops
import sexplang.machine.code.nodes  # noqa: F401  (all four register their makers)
from sexplang.machine.code.maker import Maker
from sexplang.machine.positions.sites import ITEMS, Sites
from sexplang.machine.stack import (
    BOTTOM,
    Code,
    Frame,
    Kind,
    Linked,
    Run,
    Segment,
    Step,
    give,
    make_closure,
)
from sexplang.machine.tasks.conversation import COMPACTION
from sexplang.machine.tasks.function_tools import TOOL
from sexplang.terms.classes.node import field, node
from sexplang.terms.core import Known
from sexplang.terms.program import Bind, Function, Program, Unit
from sexplang.terms.task import TaskSystem
from sexplang.terms.values.value import Fault, Value

_Linking = tuple[Run, Linked, dict[int, Code]]
_Done = dict[int, tuple[TaskSystem | None, _Linking]]
_linked: WeakKeyDictionary[Program, _Done] = WeakKeyDictionary()


def _quiet(node: Segment, operation: str, arguments: tuple[Value, ...]) -> None:
    if operation != "error":
        raise Fault(
            "effect-at-import",
            f"module `{node[4]}` performs `{operation}` while it is imported",
            hint="perform it in a function, and call that from the program",
        )


MODULE = Kind("module", give)
"""The top level of an imported module: data is its name."""

MODULE.guard = _quiet


def link(program: Program, tasks: TaskSystem | None) -> tuple[Run, Linked]:
    """Return the code of the whole program, and its links."""
    return link_program(program, tasks)[:2]


def link_program(program: Program, tasks: TaskSystem | None) -> _Linking:
    """Return the code of the whole program, its links, and the code of its functions by index."""
    done = _linked.setdefault(program, {})
    found = done.get(id(tasks))
    if found is None:
        # The task system is kept, so no other one can have its id. If two threads link at once, the
        # code of the first is used: frozen runs refer to it.
        found = done.setdefault(id(tasks), (tasks, _compile(program, tasks)))
        # The task system is a part of the key: it is at hand where the code runs.
        own = found[1][1].tasks
        done.setdefault(id(own), (own, found[1]))
    return found[1]


def _compile(program: Program, tasks: TaskSystem | None) -> _Linking:
    codes, sites = _codes(program.functions), Sites(program.functions, program.units)
    maker = Maker(codes, sites)
    _functions(program.functions, maker)
    run, top = _units(program.units, maker, _value)
    return run, _link_known(program, tasks, codes, sites, top), codes


@node(eq=False)
class Standing:
    """The state of a program that is entered piece by piece: the value of its last piece, and the
    environment of all of them. `units` counts them."""

    value: Value = None
    env: tuple[Any, ...] = ({},)
    codes: dict[int, Code] = field(factory=dict)
    sites: Sites = field(factory=Sites)
    units: int = 0


def link_onward(
    program: Program, standing: Standing, tasks: TaskSystem | None
) -> tuple[Run, Linked]:
    """Return the code of the units that are new since `standing`; its value is the next
    Standing."""
    functions = [each for each in program.functions if each.index not in standing.codes]
    codes = {**standing.codes, **_codes(functions)}
    sites = Sites(program.functions, program.units, standing.sites.entered)
    maker = Maker(codes, sites)
    _functions(functions, maker)

    def end(value: Value, env: Any) -> Standing:
        return Standing(value, env, codes, sites, len(program.units))

    run, top = _units(program.units, maker, end, standing.units)
    return run, _link_known(program, tasks, codes, sites, top)


def _link_known(
    program: Program, tasks: TaskSystem | None, codes: dict[int, Code], sites: Sites, top: Run
) -> Linked:
    known = {task.name: task for task in program.tasks}
    if tasks is not None:
        tasks = tasks.knowing(tuple([task.template for task in program.tasks]), program.tools)
    linked = Linked(
        tasks,
        known,
        {},
        program.plan,
        tools=program.tools,
        validators={task: (codes[each.index], top) for task, each in program.validators.items()},
        codes=codes,
        sites=sites,
        top=top,
        program=ref(program),
    )
    if program.tools:
        linked.defaults["tool"] = TOOL
    for operation, export in program.defaults.items():
        assert isinstance(export.core, Known)
        # A default is defined without values of its own module around it.
        linked.defaults[operation] = make_closure(codes[export.core.function], ({},))
    if tasks is not None:
        linked.defaults["compact"] = COMPACTION
    return linked


def _codes(functions: Iterable[Function]) -> dict[int, Code]:
    return {
        function.index: Code(
            function.name,
            function.index,
            tuple([param.name for param in function.params]),
            function.rest is not None,
            function.outer,
            function.span.source.is_library,
        )
        for function in functions
    }


def _functions(functions: Iterable[Function], maker: Maker) -> None:
    for function in functions:
        code = maker.codes[function.index]
        maker.function(function.index, function.body)
        code.defaults = tuple(
            [
                None
                if param.default is None
                else maker.run(param.default, maker.piece(param.default))
                for param in function.params
            ]
        )
        code.simple = not code.rest and not any(code.defaults)
        code.quick = code.simple and not code.is_library


def _value(value: Value, env: Any) -> Value:
    return value


def _units(
    units: Iterable[Unit], maker: Maker, ended: Callable[[Value, Any], Value], first: int = 0
) -> tuple[Run, Run]:
    """Return code for the items of all units in order, from the unit `first` on, and the resume of
    the frame in which the program waits for an item. The frame on top gets the result of `ended`
    for the value of the last item and the environment."""
    items: list[tuple[Any, str | None, bool]] = []
    for at, unit in enumerate(units):
        for item in unit.items:
            node: Any = item.value if isinstance(item, Bind) else item
            code = maker.run(node, maker.piece(node)) if at >= first else None
            items.append((code, None if unit.main else unit.name, isinstance(item, Bind)))
    before = sum([len(unit.items) for at, unit in enumerate(units) if at < first])

    def start(at: int, env: Any, k: Frame, s: Segment) -> Step:
        run, module, _ = items[at]
        frame = (end, k, env, at)
        if module is None:
            return run, env, frame, s
        return run, env, BOTTOM, (MODULE, frame, s, s[3], module)

    def end(value: Value, k: Frame, s: Segment) -> Step:
        _, below, env, at = k
        if items[at][2]:
            env = env + (value,)
        if at + 1 == len(items):
            return below[0], ended(value, env), below, s
        return start(at + 1, env, below, s)

    def run(env: Any, k: Frame, s: Segment) -> Step:
        if before == len(items):
            return k[0], ended(None, env), k, s
        return start(before, env, k, s)

    return run, maker.enter(None, ITEMS, end)
