"""The state of a session: it runs inputs, keeps definitions, shows values and errors."""

import sys
from typing import TYPE_CHECKING, Any, TextIO

from sexplang.hosts.cli.programs import has_tasks, permissions_of, terms_of
from sexplang.hosts.repl.redefinition import GrowingProgram, begin_program, in_pieces
from sexplang.hosts.settings.limit_options import limits_of
from sexplang.hosts.settings.mcp_options import describe_tools, servers_of
from sexplang.hosts.settings.path_arguments import folder_of, source_at, text_at
from sexplang.hosts.settings.python_options import load_files
from sexplang.hosts.settings.run_arguments import Settings
from sexplang.hosts.terminal.show import draw_hidden
from sexplang.machine import Standing
from sexplang.terms.classes.node import define, evolve, field
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.form import Form, ListForm, Name
from sexplang.terms.source import Source, Span
from sexplang.terms.task import error_of
from sexplang.terms.values.text import to_source
from sexplang.terms.values.value import Fault, Record, Value

if TYPE_CHECKING:
    from sexplang.api.python_files.file_functions import FileFunctions
    from sexplang.hosts.terminal.progress import Progress
    from sexplang.machine import Done, Failed, Suspended
    from sexplang.machine.positions.traceback import Trail
    from sexplang.runtime import Permissions
    from sexplang.runtime.driver.events import Event
    from sexplang.runtime.mcp import Servers

LONGEST = 20_000
"""The most characters of a value that are shown."""

_NAMELESS = "what-is-typed"
"""The name of a function whose body is checked and not run."""


@define(eq=False)
class Session:
    """One session. Its state is replaced as a whole, and only after success."""

    settings: Settings
    out: TextIO
    err: TextIO
    folder: str | None = None
    """The folder that the loaded file may read, and the start of relative paths."""
    failures: int = 0
    growing: GrowingProgram = field(init=False)
    standing: Standing = field(init=False, factory=Standing)
    before: list[tuple[GrowingProgram, Standing]] = field(factory=list)
    """The state that `:undo` returns to."""
    _inputs: int = 0
    _sources: dict[str, Source] = field(factory=dict)
    _model: Any = None
    _serving: "Servers | None" = None
    _progress: "Progress | None" = None

    def __attrs_post_init__(self) -> None:
        self.growing = begin_program(self._find)

    def enter(self, text: str) -> None:
        """Run the forms of a text in order, up to the first that fails."""
        from sexplang.reader import read

        self._inputs += 1
        source = Source(f"input {self._inputs}", text)
        try:
            for forms in in_pieces(read(source)):
                if not self._run(source, forms):
                    return
        except Diagnostics as found:
            self.refuse(found.diagnostics)

    def load(self, path: str, inputs: tuple[str, ...] = ()) -> None:
        """Run a file as one piece, with its inputs; it may read its folder, as in `run`."""
        from sexplang.reader import read

        try:
            source = source_at(path)
            forms = read(source)
            folder, self.folder = self.folder, folder_of(path)
            if not self._run(source, forms, inputs):
                self.folder = folder
        except Diagnostics as found:
            self.refuse(found.diagnostics)

    def foresee(self, text: str) -> str:
        """Return the requests and the model calls that a text would make. Raises Diagnostics."""
        from sexplang.pipeline.pipeline import inspect
        from sexplang.reader import read

        source = Source("input", text)
        forms = read(source)
        whole = Span(source, 0, len(text))
        named = (Name("define", span=whole), ListForm((Name(_NAMELESS, span=whole),), span=whole))
        define = ListForm((*named, *forms), span=whole)
        call = ListForm((Name(_NAMELESS, span=whole),), span=whole)
        report = inspect(self.growing.extend(source, (define, call)).program)
        row = next(row for row in report.effects if row.name == _NAMELESS)
        line = f"it performs {', '.join(row.operations) or 'nothing'}"
        # Earlier pieces have run already and do not count again.
        known = inspect(self.growing.program).calls
        return f"{line}; {report.says()}" if known.is_zero else line

    def undo(self) -> bool:
        """Undo the last piece that succeeded; return whether there was one."""
        if self.before:
            self.growing, self.standing = self.before.pop()
            return True
        return False

    def say(self, words: str) -> None:
        """Print a line for the person, not of the program."""
        print(draw_hidden(words, keep="\n"), file=self.err, flush=True)

    def refuse(self, found: tuple[Diagnostic, ...]) -> None:
        """Show the diagnostics of an input."""
        self.failures += 1
        self._show(found)

    # -- one piece

    def _run(self, source: Source, forms: tuple[Form, ...], inputs: tuple[str, ...] = ()) -> bool:
        from sexplang.guards.interrupt import interruptible
        from sexplang.machine import Failed, Suspended
        from sexplang.runs.assembly import proceed

        self._sources[source.name] = source
        grown = self.growing.extend(source, forms)
        program = grown.program
        self._sources.update({each.name: each for each in program.sources})
        self._show(program.warnings)
        standing = self._with_inputs(grown, inputs)
        limits = limits_of(self.settings, self.folder)
        files = load_files(self.settings, program, self.folder)
        try:
            tools = describe_tools(self._servers(), program)
            if files is not None:
                tools |= files.definitions
            terms = terms_of(program, {}, self.settings, limits, tools=tools)
        except Fault as fault:
            self._fail(error_of(fault))
            return False
        with interruptible():
            uses = has_tasks(program)
            outcome = proceed(program, standing, terms, has_tasks=uses, held=limits.held)
            if isinstance(outcome, Suspended):
                outcome = self._drive(outcome, files)
        if isinstance(outcome, Failed):
            self._fail(outcome.error, outcome.trail)
            return False
        self.before.append((self.growing, self.standing))
        self.growing, self.standing = grown, outcome.value
        for name, why in grown.stale:
            self.say(f"`{name}` keeps the meaning it had: with the new one, {why.title}")
        self._give(outcome.value.value)
        return True

    def _with_inputs(self, grown: GrowingProgram, given: tuple[str, ...]) -> Standing:
        declared = grown.program.inputs
        if not given and not declared:
            return self.standing
        from sexplang.hosts.settings.input_arguments import values_of

        hint = "type :load FILE {given}, or (define {name} …) in its place"
        values = values_of(given, declared, text_at, hint)
        known, *rest = self.standing.env
        return evolve(self.standing, env=({**known, **values}, *rest))

    def _give(self, value: Value) -> None:
        if value is None:
            return
        try:
            shown = draw_hidden(to_source(value))
        except Fault as fault:
            self._fail(error_of(fault))
            return
        if len(shown) > LONGEST:
            shown = f"{shown[:LONGEST]} … ({len(shown):,} characters)"
        print(shown, file=self.out, flush=True)

    def _fail(self, error: Record, trail: "Trail | None" = None) -> None:
        from sexplang.hosts.terminal.show import error_text

        self.failures += 1
        print(error_text(error, self.err, self._sources.get, trail), file=self.err, flush=True)

    def _show(self, found: tuple[Diagnostic, ...]) -> None:
        from sexplang.hosts.terminal.show import diagnostics_text

        if found:
            print(diagnostics_text(found, self.err), file=self.err, flush=True)

    # -- the world

    def _permissions(self) -> "Permissions":
        return permissions_of(self.settings, self.folder)

    def _servers(self) -> "Servers | None":
        """Return the MCP servers, made once: a server keeps its state between inputs."""
        if self._serving is None:
            self._serving = servers_of(self.settings, self.folder)
        return self._serving

    def close(self) -> None:
        """Close the servers."""
        if self._serving is not None:
            self._serving.close()

    def _find(self, path: str, importer: str) -> tuple[Source, ...]:
        from sexplang.runtime.files.source_finder import make_finder

        return make_finder(self._permissions())(path, importer)

    def _drive(self, outcome: "Suspended", files: "FileFunctions | None") -> "Done | Failed":
        from sexplang.hosts.terminal.progress import Progress
        from sexplang.hosts.terminal.streams import person_at
        from sexplang.machine import Done, Failed
        from sexplang.package.process import hide
        from sexplang.runtime import Journal, drive, performers
        from sexplang.runtime import Settings as RunSettings

        if self.settings.allow_run:
            hide()
        journal = Journal()
        table = performers(
            RunSettings(
                run_id=journal.run_id,
                permissions=self._permissions(),
                write=self._print,
                log=self._log,
                person=person_at(sys.stdin, self.err),
                on_event=self._watch,
                models=self.settings.models,
                on_named=self._note_model,
                memory=self.settings.index,
                servers=self._servers(),
                tools={} if files is None else files.answers,
            ),
            {} if files is None else files.performers,
        )
        # A script of replies continues from input to input.
        self._model = table["model"] = self._model or table["model"]
        live = self.err.isatty()
        self._progress = Progress(self.err, live=live, quiet=self.settings.quiet)
        more: dict[str, Any] = {}
        if self.settings.parallel is not None:
            more["parallel"] = self.settings.parallel
        try:
            ended = drive(outcome, table, journal=journal, on_event=self._watch, **more)
            assert isinstance(ended, (Done, Failed))
            return ended
        finally:
            self._progress.close()
            self._progress = None

    def _watch(self, event: "Event") -> None:
        if self._progress is not None:
            self._progress(event)

    def _note_model(self, name: str, model: str, is_default: bool) -> None:
        if self._progress is not None:
            self._progress.note_model(name, model, is_default)

    def _print(self, text: str) -> None:
        self.out.write(text)
        self.out.flush()

    def _log(self, level: str, text: str) -> None:
        if not self.settings.quiet or level == "error":
            self.say(f"{draw_hidden(level)}: {text}")
