"""The tasks of a program, and who asks, to those that a request for a subtask may find."""

from sexplang.terms.task import Conversation
from sexplang.terms.template import Template


def candidates(tasks: tuple[Template, ...], asks: Template | None = None) -> tuple[Template, ...]:
    """The tasks that a template's clause `subtasks` names, in its order, else all that are public,
    those of its own file first. It is among them itself only where its clause names it."""
    public = [each for each in tasks if each.is_public]
    if asks is None:
        return tuple(public)
    if asks.subtasks:
        by_name = {each.name: each for each in public}
        return tuple([by_name[name] for name in asks.subtasks if name in by_name])
    file = _file_of(asks)
    others = [each for each in public if each is not asks]
    others.sort(key=lambda each: file is None or _file_of(each) != file)
    return tuple(others)


def reachable_tasks(
    tasks: tuple[Template, ...], conversations: tuple[Conversation, ...]
) -> tuple[Template, ...]:
    """The tasks that a request can name which is made in these conversations: the candidates of
    the innermost, its tools, and itself. Of several private tasks of one name, it is who may have
    least."""
    return reachable_from(tasks, conversations[-1].name if conversations else None)


def reachable_from(tasks: tuple[Template, ...], name: str | None) -> tuple[Template, ...]:
    """The same for the name of the innermost."""
    asking = [each for each in tasks if each.name == name]
    found = candidates(tasks, asking[0] if asking else None)
    for other in asking[1:]:
        allowed = candidates(tasks, other)
        found = tuple([each for each in found if each in allowed])
    own = [each for each in asking if each.is_public and not each.subtasks]
    tools = [each for each in tasks if each.is_public and _is_tool(each, asking)]
    known = {each.name for each in found}
    return (*found, *[each for each in (*own, *tools) if each.name not in known])


def _is_tool(task: Template, asking: list[Template]) -> bool:
    return bool(asking) and all(task.name in each.allowed_tools for each in asking)


def _file_of(template: Template) -> str | None:
    return None if template.span is None else template.span.source.name
