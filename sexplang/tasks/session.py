"""What a conversation is between two replies: a HandlerSession, plain data through and through.

Law: no functions in here. What needs one is closed over by the TaskSystem; so a session can be
frozen, forked and compared, and advancing the same one twice is two conversations.
"""

from collections.abc import Callable, Mapping
from typing import Literal, Protocol, TypeAlias

from sexplang.tasks.plans.ledger import Planning
from sexplang.terms.classes.node import field, node
from sexplang.terms.program import Function
from sexplang.terms.task import Ask
from sexplang.terms.template import OutputFormat, Template
from sexplang.terms.values.value import Record, Value

HandlerPayload: TypeAlias = dict[str, Value]
"""`{model? system messages tools max_tokens? output_schema? task}` and the task's options, the
argument of `model`."""

Block: TypeAlias = dict[str, Value]
"""A content block of the Messages protocol; kinds that are not known here are kept verbatim."""


class Reading(Protocol):
    """What `read_reply` makes of a text. With a problem, the value means nothing."""

    @property
    def value(self) -> Value: ...
    @property
    def repairs(self) -> tuple[str, ...]: ...
    @property
    def problem(self) -> str | None:
        """Sentences for the model; the last one tells it what to do."""

    @property
    def details(self) -> dict[str, Value]: ...


@node(eq=False)
class Rules:
    """What holds for every conversation of a task system."""

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
    """The tokens that a conversation may take of the context window of the model so named."""
    memory: bool
    """Whether somebody outside of the program answers a search for fresh context."""
    has_own_memory: bool
    """Whether some handler of the program does."""
    folder: str = ""
    """What relative paths are relative to; empty where nobody knows it."""
    all_tools: bool = False
    """Whether `tools` has those of all servers that there are."""
    tasks: tuple[Template, ...] = ()
    """Those of the program."""
    functions: Mapping[str, Function] = field(factory=dict)
    """Those of the program that are tools, by the names of these."""


@node
class Setup:
    """What stays the same during a conversation."""

    task: str
    format: OutputFormat
    offered: dict[str, str]
    """The tools the model may call: the name it sees, and ours."""
    depth: int
    max_depth: int | None
    """The bound for the chain from here on that the template or a request set."""
    max_turns: int
    window: int
    """Tokens that the conversation may take in all."""
    notes: dict[str, Value]
    takes_text: bool = False
    """Whether a reply that does not fit its format is taken as text."""
    unseen: tuple[Block, ...] | None = None
    """The earlier messages that the call gave and the model is not shown, where the result shall
    hold all that was said."""
    earlier: int = 0
    """How many earlier messages the model is shown."""
    seconds: float | None = None
    """The timeout of the task."""
    past: "HandlerSession | None" = None
    """What it goes on with, at its end: that keeps the earlier messages."""
    in_order: tuple[str, ...] = ()
    """Those that are performed one after the other in the conversation's own branch."""
    own: dict[str, str] = field(factory=dict)
    """Which of the tools are the program's: our name, and whether it is a `task` or `function`."""
    guards: dict[str, Value] = field(factory=dict)
    """What its plans may be at most: `subtasks`, `decompositions`, `depth`; what is not there is
    the run's."""


@node
class Lookup:
    """A search or a command that finds files, and what files found by it are said to come from."""

    provenance: str
    ask: Ask
    unanswered: str = ""
    """What is noted where nobody answers."""


@node
class Gathering:
    """The files that are being found and read, and what else the system prompt will hold."""

    paths: tuple[str, ...]
    """What is always there, in this order."""
    system: str
    items: tuple[Value, ...]
    """Inherited items that have their text already."""
    inherited: tuple[str, ...]
    """The paths that come from the parent's context rather than from the task."""
    wanted: str
    """With inherit subset, the text that an inherited item has to do with; else empty."""
    previous: str
    lookups: tuple[Lookup, ...] = ()
    matched: tuple[str, ...] = ()
    """The paths among `paths` that a search proposed: without room for them they stay out."""
    needed: tuple[str, ...] = ()
    """The paths that the call gave as inputs: without them the task cannot be done."""
    folder: str = ""
    """What relative paths are relative to."""
    assembly: tuple[tuple[str, str], ...] = ()
    """`context_assembly`: which elements come first, last, or not at all."""


@node
class Calls:
    """The tool calls of one turn: a result block for each, as far as they are known."""

    ids: tuple[str, ...]
    results: tuple[Block | None, ...]
    waiting: tuple[int, ...] = ()
    """Which of them the replies to the last Perform answer."""
    later: tuple[tuple[int, Ask], ...] = ()
    """What is performed one by one in the conversation's own branch."""
    halted: Record | None = None
    """The error of a subtask that was refused for its depth or as a cycle."""
    refused: str | None = None
    """Why a plan was refused."""


@node
class LeftOut:
    """What had no room in the window of a conversation."""

    shortened: tuple[Value, ...] = ()
    """The whole of what went back to the model only in part: `{tool_use_id? content}`."""
    compacted: tuple[Value, ...] = ()
    """What was emptied, for the notes: once for each time."""
    sources: tuple[str, ...] = ()
    """What the tools had read before that."""


NOTHING_LEFT_OUT = LeftOut()


NOTHING = "(nothing)"
"""What stands in messages for a turn without a word: no provider takes a blank one."""

Waits: TypeAlias = Literal["lookups", "files", "model", "calls", "subtask", "subplan", "compact"]


@node
class HandlerSession:
    """One conversation at one moment. Opaque to the machine."""

    setup: Setup
    payload: HandlerPayload
    """The next request, but for its messages."""
    messages: tuple[Block, ...] = ()
    taken: tuple[int, int] = (0, 0)
    """Tokens of the context window: what it holds now, and the most it has held."""
    warnings: tuple[str, ...] = ()
    gathering: Gathering | None = None
    waits: Waits = "model"
    turns: int = 0
    """Assistant messages so far; nothing else counts."""
    usage: tuple[int, int] = (0, 0)
    """Input and output tokens of all turns."""
    said: str = ""
    """Text of paused turns, which the next one continues."""
    repairs: tuple[str, ...] = ()
    asked_again: int = 0
    refused: int = 0
    """Turns so far with a subtask request that was malformed, too deep or a cycle."""
    children: tuple[int, int] = (0, 0)
    """Input and output tokens of the subtasks, and of theirs."""
    calls: Calls | None = None
    planning: Planning | None = None
    """What it has asked others for: subtasks and plans."""
    left_out: LeftOut | None = None
    """What had no room in the window."""
