"""HandlerSession: the state of a conversation between two replies, as plain data.

Law: a session holds no functions; the TaskSystem closes over those. A session can be frozen, forked
and compared. Advancing one session twice gives two conversations.
"""

from collections.abc import Callable, Mapping
from typing import Literal, Protocol, TypeAlias

from sexplang.tasks.plans.proposal import Planning
from sexplang.terms.classes.node import field, node
from sexplang.terms.program import Function
from sexplang.terms.task import Ask
from sexplang.terms.template import OutputFormat, Template
from sexplang.terms.values.value import Record, Value

HandlerPayload: TypeAlias = dict[str, Value]
"""The argument of `model`: `{model? system messages tools max_tokens? output_schema? task}` and the
task's options."""

Block: TypeAlias = dict[str, Value]
"""A content block of the Messages protocol. Unknown kinds are kept verbatim."""


class Reading(Protocol):
    """The result of `read_reply` for a text. With a problem, `value` is meaningless."""

    @property
    def value(self) -> Value: ...
    @property
    def repairs(self) -> tuple[str, ...]: ...
    @property
    def problem(self) -> str | None:
        """Sentences for the model. The last one says what to do."""

    @property
    def details(self) -> dict[str, Value]: ...


@node(eq=False)
class Rules:
    """The settings of a task system: the same for all its conversations."""

    read_reply: Callable[[str, OutputFormat], Reading]
    json_schema: Callable[[OutputFormat], Value]
    xml_words: Callable[[OutputFormat], str]
    max_task_depth: int
    max_turns: int
    max_repairs: int
    max_refused: int
    base_prompt: str
    tools: Mapping[str, dict[str, Value]]
    window: Callable[[str | None], int]
    """The tokens of context that a conversation with the named model may take."""
    memory: bool
    """Whether the host answers a search for fresh context."""
    has_own_memory: bool
    """Whether a handler of the program answers one."""
    folder: str = ""
    """The folder of relative paths. Empty if it is unknown."""
    all_tools: bool = False
    """Whether `tools` holds the tools of all servers."""
    tasks: tuple[Template, ...] = ()
    """The tasks of the program."""
    functions: Mapping[str, Function] = field(factory=dict)
    """The program's functions that are tools, by the names of the tools."""


@node
class Setup:
    """The part of a session that does not change during the conversation."""

    task: str
    format: OutputFormat
    offered: dict[str, str]
    """The tools that the model may call: the name it sees, and the internal name."""
    depth: int
    max_depth: int | None
    """The bound of the chain from here on that the template or a request set."""
    max_turns: int
    window: int
    """Tokens of context that the conversation may take in all."""
    notes: dict[str, Value]
    takes_text: bool = False
    """Whether a reply that does not fit its format is taken as text."""
    unseen: tuple[Block, ...] | None = None
    """The earlier messages of the call that the model is not shown. None if the result keeps no
    history."""
    earlier: int = 0
    """The number of earlier messages that the model is shown."""
    seconds: float | None = None
    """The timeout of the task."""
    past: "HandlerSession | None" = None
    """The ended session that this conversation continues. It keeps the earlier messages."""
    in_order: tuple[str, ...] = ()
    """The tools that are performed one after the other in the conversation's own branch."""
    own: dict[str, str] = field(factory=dict)
    """The tools of the program by internal name: `task` or `function`."""
    guards: dict[str, Value] = field(factory=dict)
    """The bounds of its plans: `subtasks`, `decompositions`, `depth`. The run's bounds hold for
    absent ones."""
    is_validated: bool = False
    """Whether a function of the program judges the answer."""


@node
class Lookup:
    """A search or a command that finds files, and the provenance of the files."""

    provenance: str
    ask: Ask
    unanswered: str = ""
    """The warning if the request is not answered."""


@node
class Gathering:
    """The files that are being found and read, and the other parts of the system prompt."""

    paths: tuple[str, ...]
    """The paths that are always read, in this order."""
    system: str
    items: tuple[Value, ...]
    """The inherited items that have their text already."""
    inherited: tuple[str, ...]
    """The paths that come from the parent's context, not from the task."""
    wanted: str
    """The text that an inherited item must be relevant to, with inherit subset. Else empty."""
    previous: str
    lookups: tuple[Lookup, ...] = ()
    matched: tuple[str, ...] = ()
    """The paths among `paths` that a search proposed. They stay out if they do not fit."""
    needed: tuple[str, ...] = ()
    """The paths that the call gave as inputs. The task fails without them."""
    folder: str = ""
    """The folder of relative paths."""
    assembly: tuple[tuple[str, str], ...] = ()
    """`context_assembly`: the elements that come first, last, or not at all."""


@node
class Calls:
    """The tool calls of one turn, with a result block for each known result."""

    ids: tuple[str, ...]
    results: tuple[Block | None, ...]
    waiting: tuple[int, ...] = ()
    """The indexes that the replies to the last Perform answer."""
    later: tuple[tuple[int, Ask], ...] = ()
    """The operations that are performed one by one in the conversation's own branch."""
    halted: Record | None = None
    """The error of a subtask that was refused for its depth or as a cycle."""
    refused: str | None = None
    """The reason why a plan was refused."""


@node
class LeftOut:
    """The content that had no room in the window of a conversation."""

    shortened: tuple[Value, ...] = ()
    """The whole of each content that went back to the model only in part: `{tool_use_id?
    content}`."""
    compacted: tuple[Value, ...] = ()
    """The content that was emptied, for the notes: one entry for each compaction."""
    sources: tuple[str, ...] = ()
    """The sources that the tools had read before the compaction."""


NOTHING_LEFT_OUT = LeftOut()


NOTHING = "(nothing)"
"""The text of a turn without a word. No provider takes a blank message."""

Waits: TypeAlias = Literal[
    "lookups", "files", "model", "calls", "subtask", "subplan", "compact", "validator"
]


@node
class HandlerSession:
    """One conversation at one moment. Opaque to the machine."""

    setup: Setup
    payload: HandlerPayload
    """The next request without its messages."""
    messages: tuple[Block, ...] = ()
    taken: tuple[int, int] = (0, 0)
    """Tokens of the context window: the present number and the peak."""
    warnings: tuple[str, ...] = ()
    gathering: Gathering | None = None
    waits: Waits = "model"
    turns: int = 0
    """The number of assistant messages so far."""
    usage: tuple[int, int] = (0, 0)
    """Input and output tokens of all turns."""
    said: str = ""
    """The text of paused turns, which the next turn continues."""
    repairs: tuple[str, ...] = ()
    asked_again: int = 0
    refused: int = 0
    """The number of turns with a subtask request that was malformed, too deep or a cycle."""
    children: tuple[int, int] = (0, 0)
    """Input and output tokens of the subtasks and their subtasks."""
    calls: Calls | None = None
    planning: Planning | None = None
    """The subtasks and plans that the conversation has asked for."""
    left_out: LeftOut | None = None
    """The content that had no room in the window."""
    unjudged: Record | None = None
    """The result whose answer the validator judges."""
