"""The ProposedSubplan of a model or a program: in snake_case, checked field by field; and the plans
that a conversation has asked for so far.
"""

from typing import Any

from sexplang.tasks.plans.artifacts import Artifacts, merge
from sexplang.tasks.plans.fields import (
    PLAN,
    SUBTASK,
    Interpretation,
    Read,
    UnfitField,
    from_json,
    letters,
    names_of,
)
from sexplang.tasks.plans.schema import KINDS, REASONS
from sexplang.tasks.requests.subtask_request import fields_of
from sexplang.terms.classes.node import evolve, field, frozen
from sexplang.terms.task import Ask, task_result
from sexplang.terms.texts.nearest import nearest
from sexplang.terms.values.value import Value


@frozen
class Proposal:
    """A proposal as a table of known fields, or its problems."""

    fields: dict[str, Value]
    problems: dict[str, str] = field(factory=dict)
    warnings: tuple[str, ...] = ()

    def complaint(self) -> str:
        """Return all problems in one line."""
        return "; ".join(f"{name}: {problem}" for name, problem in self.problems.items())


_OURS = frozenset({"parent_task_id", "depth", "result", "decomposition", "progress"})
_OURS |= {"first", "seconds", "granted", "max_depth", "limits"}
"""The fields that the runtime writes into the proposal that a handler sees."""

_TEXTS = frozenset({"description", "name", "reason"})
"""The fields that are texts, even if they look like JSON."""

_NAMES = {letters(name): name for name in ("subtasks", *PLAN, *SUBTASK, *_OURS)}
"""The fields by their letters: camelCase and any other spelling."""

_MOST_NAMED, _LONGEST, _NEAR = 20, 40, 0.8
"""Bounds of the search for a likely field: slips, characters of a name, and similarity."""

_OTHERWISE = {"dependson": "depends_on_subtasks", "dependencies": "depends_on_subtasks"}
"""Other names of fields that models use, by their letters."""


def proposal(value: Value, trusted: bool = False) -> Proposal:
    """Read a proposal. A single subtask is a plan of one. Nil is absent, camelCase is accepted. The
    runtime's own fields are read only if the proposal is `trusted`."""
    problems: dict[str, str] = {}
    warnings: list[str] = []
    given = _table(_parse_text(value, "subplan", problems, warnings), "", problems, warnings)
    if given is None:
        return Proposal({}, {"subplan": "write an object with reason and subtasks"})
    if "subtasks" not in given and {"description", "name"} & given.keys():
        whole = {key: item for key, item in given.items() if key in PLAN or key in _OURS}
        alone = {key: item for key, item in given.items() if key not in whole}
        given = {**whole, "subtasks": (alone,)}
    rest = {key: item for key, item in given.items() if key != "subtasks" and key not in _OURS}
    fields = _fields(rest, PLAN, "", problems, warnings)
    fields["subtasks"] = _subtasks(given.get("subtasks"), problems, warnings)
    fields.setdefault("reason", REASONS[0])
    fields.setdefault("stop_when", {"kind": KINDS[0], "description": ""})
    if trusted:
        fields |= {key: item for key, item in given.items() if key in _OURS}
    return Proposal(fields, problems, tuple(warnings))


def _parse_text(value: Value, place: str, problems: dict[str, str], warnings: list[str]) -> Value:
    """Return the value, or the value of its JSON text."""
    found = from_json(value)
    if not isinstance(found, Interpretation):
        return value
    if found.twice is not None:
        problems[place] = f"`{found.twice}` occurs twice in this text in JSON: keep one"
    warnings.append(f"{place}: {found.words}")
    inner: Value = found.value
    return inner


def _table(
    value: Value, place: str, problems: dict[str, str], warnings: list[str]
) -> dict[str, Value] | None:
    """Return the fields of an object by their known names. None if it is no object."""
    given = fields_of(value)
    if given is None:
        return None
    fields: dict[str, Value] = {}
    for key, item in given.items():
        if item is None:
            continue
        name = _NAMES.get(letters(key), key)
        if letters(key) in _OTHERWISE:
            name = _OTHERWISE[letters(key)]
            warnings.append(f"{place}{key}: it was understood as `{name}`")
        if name in fields:
            problems[f"{place}{name}"] = "it occurs twice, in two spellings: keep one"
        fields[name] = item
    return fields


def _subtasks(
    listed: Value, problems: dict[str, str], warnings: list[str]
) -> tuple[dict[str, Any], ...]:
    listed = _parse_text(listed, "subtasks", problems, warnings)
    if {"description", "name"} & {letters(key) for key in fields_of(listed) or ()}:
        warnings.append("subtasks: a single object was read as a list of one")
        listed = (listed,)
    if not isinstance(listed, (tuple, list)):
        problems["subtasks"] = "write a list of subtasks"
        return ()
    found = [
        _subtask(item, f"subtasks[{at}]", problems, warnings) for at, item in enumerate(listed)
    ]
    names = names_of(found)
    for at, subtask in enumerate(found):
        words = subtask.get("depends_on_subtasks")
        if words:
            subtask["depends_on_subtasks"] = tuple(
                [_dependency(word, names, at, warnings) for word in words]
            )
    return tuple(found)


def _dependency(word: str, names: dict[str, set[int]], at: int, warnings: list[str]) -> str:
    """Return the index of the one other subtask that a name means. Else return the name."""
    others = set() if word.isdecimal() else names.get(letters(word), set()) - {at}
    if len(others) != 1:
        return word
    (found,) = others
    place = f"subtasks[{at}].depends_on_subtasks"
    warnings.append(f"{place}: `{word}` was understood as {found}, the index of that subtask")
    return str(found)


def _subtask(
    value: Value, place: str, problems: dict[str, str], warnings: list[str]
) -> dict[str, Any]:
    value = _parse_text(value, place, problems, warnings)
    if isinstance(value, str) and value.strip():
        warnings.append(f"{place}: a text was read as the description of a subtask")
        value = {"description": value}
    given = _table(value, f"{place}.", problems, warnings)
    if given is None:
        problems[place] = "write an object with description"
        return {}
    fields = _fields(given, SUBTASK, f"{place}.", problems, warnings)
    if "description" not in given:
        if "name" in fields:
            fields["description"] = fields["name"]
        else:
            problems[f"{place}.description"] = "say what the subtask is to do"
    return fields


def _fields(
    given: dict[str, Value],
    known: dict[str, Read],
    place: str,
    problems: dict[str, str],
    warnings: list[str],
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, item in given.items():
        read = known.get(name)
        if read is None:
            looked_at = len(problems) + len(warnings) < _MOST_NAMED and len(name) < _LONGEST
            near = nearest(name, known, _NEAR) if looked_at else None
            if near is not None:  # its value would be missing
                said = f"there is no such field: did you mean `{near}`?"
                problems[f"{place}{name}"] = said
            else:
                warnings.append(f"a subplan has no field `{place}{name}`; it was left out")
            continue
        if name not in _TEXTS:
            item = _parse_text(item, f"{place}{name}", problems, warnings)
        try:
            found = read(item)
        except UnfitField as unfit:
            problems[f"{place}{name}"] = str(unfit)
            if unfit.kept:
                fields[name] = unfit.kept
            continue
        if isinstance(found, Interpretation):
            warnings.append(f"{place}{name}: {found.words}")
            found = found.value
        fields[name] = found
    return fields


@frozen
class Planning:
    """The subtasks and plans that a conversation has asked for so far."""

    asked: dict[str, Value] | None = None
    """The proposal that is being answered."""
    accepted: tuple[Value, ...] = ()
    """The answers to the accepted plans."""
    artifacts: Artifacts = ()
    """The artifacts that the conversation has delivered with its proposals."""
    counted: Artifacts = ()
    """The artifacts at the time of the last accepted plan."""
    first: int = 0
    """The number of subtasks in accepted plans."""
    granted: float = 0
    """The seconds of the conversation's budget that these subtasks were given."""
    subtasks: tuple[Value, ...] = ()
    """The results of its subtasks, oldest first."""

    def over(self) -> "Planning":
        """Return the same without a pending proposal."""
        return evolve(self, asked=None)


def propose_plan(
    planning: Planning, read: Proposal, content: str, around: dict[str, Value]
) -> tuple[Planning, Ask]:
    """Return the operation `subplan`: the proposal, and the facts to judge it. `around` describes
    the conversation, `{depth max_depth limits seconds}`, with nil for absent values."""
    planning = with_artifacts(planning, read)
    artifacts = planning.artifacts
    plan = {
        **read.fields,
        **{name: item for name, item in around.items() if item is not None},
        "result": task_result(content, "CONTINUATION", notes={"subplan": read.fields}),
        "decomposition": len(planning.accepted) + 1,
        "progress": sum([each not in planning.counted for each in artifacts]),
        "first": planning.first,
        "granted": planning.granted,
    }
    return planning, Ask("subplan", (plan,), attempt=True)


def with_artifacts(planning: Planning | None, read: Proposal) -> Planning:
    """Return the planning with the artifacts of a proposal, even of a refused one."""
    planning = planning or Planning()
    more = read.fields.get("artifacts")
    return evolve(planning, artifacts=merge(planning.artifacts, more)) if more else planning
