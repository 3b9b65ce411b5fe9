"""The one table of the operations that the host answers and of the built-in tools of a model.

A row says whether the operation changes the world, whether it may be repeated, and what each
parameter is. The journal, a changed program's run, the permissions that `check` names, previews,
tests and the page on security (chapter 8b) read it.
"""

from typing import Literal, get_args

from sexplang.terms.classes.node import field, frozen

Effect = Literal["acts", "asks", "shows", "tells", "reads", "waits"]
"""The effect on the world. `acts` changes it. `asks` is answered by a model, a server or a person,
and may cost. `shows` writes a line of output. `tells` gives what has no place: a number, the time.
`reads` looks at a place or a clock, which may have changed since. `waits` passes time."""

Repeat = Literal["free", "safe", "ask"]
"""Whether an operation that was begun may be performed again: without a word, with a word in the
journal, or when a person says so."""

Use = Literal["recipient", "path", "command", "address", "code", "id", "content"]
"""The use of a parameter: the recipient of a message, a place in the file system, an executable
and its arguments, the address of a server, a text that is run, the name of a thing, or data."""

USES = get_args(Use)

Right = Literal["read", "write", "run", "net"]
"""The permission that an operation needs: `--allow-read`, and so on."""

_PLACES = {"path", "command", "address"}


@frozen
class Parameter:
    """A parameter of an operation."""

    name: str
    use: Use = "content"


@frozen
class HostOperation:
    """An operation that the host answers. `least` counts the required arguments. `text` holds the
    positions where a TaskResult becomes its content; with `rest` any number of arguments may
    follow, and the last position covers them."""

    name: str
    params: tuple[Parameter, ...]
    effect: Effect
    repeat: Repeat
    doc: str = ""
    """An example; empty for an operation that programs cannot call."""
    right: Right | None = None
    least: int = field(default=-1)
    text: frozenset[int] = frozenset()
    rest: bool = False
    alone: bool = False
    """Whether a conversation performs it in its own branch, after the direct tools."""

    @property
    def place(self) -> int | None:
        """The position of the parameter that the permission is for."""
        found = [at for at, each in enumerate(self.params) if each.use in _PLACES]
        return found[0] if found and self.right is not None else None


def _row(
    name: str,
    params: str,
    effect: Effect,
    repeat: Repeat,
    doc: str = "",
    *,
    right: Right | None = None,
    least: int | None = None,
    text: tuple[int, ...] = (),
    rest: bool = False,
    alone: bool = False,
) -> HostOperation:
    """Return a row. `params` are names; `name:use` where the use is not content."""
    found = tuple([_parameter(each) for each in params.split()])
    needed = len(found) if least is None else least
    return HostOperation(
        name, found, effect, repeat, doc, right, needed, frozenset(text), rest, alone
    )


def _parameter(word: str) -> Parameter:
    name, _, given = word.partition(":")
    return Parameter(name, next((use for use in USES if use == given), "content"))


HOST_OPERATIONS: dict[str, HostOperation] = {
    each.name: each
    for each in (
        _row("model", "payload", "asks", "safe", "One call of a model: (model {messages: [m]})."),
        _row("tool", "name:id inputs", "acts", "ask", '(tool "lookup" {word: "tea"}).', least=1),
        _row(
            "subtask",
            "request",
            "acts",
            "ask",
            'A TaskResult or text: (subtask {description: "x"}).',
            alone=True,
        ),
        _row(
            "subplan",
            "plan:code",
            "acts",
            "ask",
            "The results of a plan of subtasks: (subplan plan).",
            alone=True,
        ),
        _row("compact", "messages used limit", "acts", "ask", "Messages that fit a window."),
        _row(
            "ask-user",
            "prompt choices",
            "asks",
            "safe",
            '(ask-user "Go on?" ["yes" "no"]).',
            least=1,
            text=(0,),
            alone=True,
        ),
        _row(
            "read-file",
            "path:path encoding:id",
            "reads",
            "free",
            'A file\'s text: (read-file "a.txt").',
            right="read",
            least=1,
            text=(0,),
        ),
        _row(
            "write-file",
            "path:path text",
            "acts",
            "ask",
            '(write-file "a.txt" "tea").',
            right="write",
            text=(0, 1),
        ),
        _row(
            "edit-file",
            "path:path old new",
            "acts",
            "ask",
            'Replaces a passage that stands once: (edit-file "a.txt" "tea" "milk").',
            right="write",
            text=(0, 1, 2),
        ),
        _row(
            "list-files",
            "glob:path",
            "reads",
            "free",
            'Paths: (list-files "*.md") or (list-files ["find" "docs" "-name" "*.md"]).',
            right="read",
            text=(0,),
        ),
        _row(
            "run-script",
            "command:command args:command input timeout",
            "acts",
            "ask",
            'Its exit code and output, no shell: (run-script "wc" ["-l"] text).',
            right="run",
            least=1,
            text=(0, 2),
        ),
        _row(
            "fetch",
            "url:address",
            "asks",
            "safe",
            'A page as a table: (fetch "https://example.org/").',
            right="net",
            text=(0,),
        ),
        _row("search-memory", "query", "reads", "free", '(search-memory "tea").', text=(0,)),
        _row("now", "", "tells", "free", "UTC seconds: (now)."),
        _row("sleep", "seconds", "waits", "free", "Waits: (sleep 0.5)."),
        _row(
            "wait-until",
            "time",
            "waits",
            "free",
            "Waits until then: (wait-until (+ (now) 86400)).",
        ),
        _row(
            "random",
            "n",
            "tells",
            "free",
            "In [0,1), or an integer in [0,n): (random 6).",
            least=0,
        ),
        _row("log", "level:id text", "shows", "safe", '(log \'info "begun").', text=(1,)),
        _row(
            "print",
            "value",
            "shows",
            "safe",
            '(print "n is" 3).',
            least=0,
            text=(0,),
            rest=True,
        ),
        _row(
            "progress",
            "text fraction",
            "shows",
            "free",
            '(progress "reading" 0.5).',
            least=1,
            text=(0,),
        ),
        _row("timer", "seconds", "reads", "free"),
    )
}
"""The rows by name. `timer` is the deadline of a scope. `compact`, `subtask` and `subplan` reach
the host only where the language's own defaults are out of reach."""

HOST_TOOLS: dict[str, str] = {
    "read_file": "read-file",
    "list_files": "list-files",
    "write_file": "write-file",
    "edit_file": "edit-file",
    "fetch": "fetch",
    "request_user_input": "ask-user",
    "spawn_subtask": "subtask",
    "propose_subplan": "subplan",
    "system:run_script": "run-script",
}
"""The operation of each built-in tool, whose facts are those of the tool."""


HIDDEN_BY_OWN = frozenset({"write_file", "edit_file", "fetch", "edit-file"})
"""Tools and operations that one of the program or of the caller hides: programs may have had
others under these names."""


FIXED_TOOLS = HOST_TOOLS.keys() - HIDDEN_BY_OWN
"""Built-in tools that nothing hides."""


def find_operations(
    *, effect: Effect | None = None, repeat: Repeat | None = None, right: Right | None = None
) -> frozenset[str]:
    """Return the names of the operations with this effect, this word on repetition, this right."""
    return frozenset(
        [
            each.name
            for each in HOST_OPERATIONS.values()
            if effect in (None, each.effect)
            and repeat in (None, each.repeat)
            and right in (None, each.right)
        ]
    )


SHOWN = find_operations(effect="shows")
"""Operations whose value is nil: a test and a preview answer them by themselves."""

ALONE = frozenset([each.name for each in HOST_OPERATIONS.values() if each.alone])
"""Operations that a conversation performs one by one, in its own branch."""
