"""The script of a test: the replies to its program's requests."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from sexplang.hosts.testing.cases import Test, report_malformed
from sexplang.hosts.testing.live import Live, live
from sexplang.hosts.testing.request_patterns import fits, operation_of
from sexplang.hosts.testing.test_programs import beside, is_error, value_of_form
from sexplang.runtime.models.adapters.scripted import (
    check_script,
    make_replies,
    read_script,
    shape_reply,
)
from sexplang.runtime.refusal import Refusal, refuse
from sexplang.terms.classes.node import define, field, frozen
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.effect import Request
from sexplang.terms.form import Form, TableForm, VectorForm
from sexplang.terms.host.host_operations import SHOWN
from sexplang.terms.texts.wildcards import matches, split_pattern
from sexplang.terms.values.boundary import plain, value_of
from sexplang.terms.values.value import Fault, Value


@frozen(eq=False)
class Exchange:
    """An expected request, and the reply or the error for it."""

    pattern: Form
    reply: Value


@define(eq=False)
class Script:
    """The rest of a script while its program runs."""

    exchanges: list[Exchange]
    models: list[Any]
    """The models in order of precedence: the rules of the test, its file of replies."""
    files: dict[str, str] | None
    live: Live | None = None
    """The model for requests that the test does not answer."""
    unanswered: str = ""
    """The reason why no model answered the last request."""
    made: list[Request] = field(factory=list)
    """The answered requests, in order."""
    printed: list[Request] = field(factory=list)

    def answer(self, requests: Sequence[Request]) -> tuple[Request, Value] | None:
        """Return one of the open requests with its reply; None if none can be answered."""
        for request in requests:
            if self.exchanges and fits(self.exchanges[0].pattern, request):
                return self._make(request, _shape(self.exchanges.pop(0).reply, request))
        for request in requests:
            if request.operation in SHOWN:
                return self._make(request, None)
            if request.operation == "model":
                reply = self._from_models(request)
            else:
                reply = self._from_files(request)
            if reply is not None:
                return self._make(request, reply[0])
        return None

    def _make(self, request: Request, reply: Value) -> tuple[Request, Value]:
        self.made.append(request)
        if request.operation == "print":
            self.printed.append(request)
        return request, reply

    def _from_models(self, request: Request) -> tuple[Value] | None:
        self.unanswered = ""
        for model in self.models:
            try:
                return (value_of(model(plain(request.arguments[0]), request)),)
            except Refusal as refusal:
                if refusal.error.fields["reason"] != "script-mismatch":
                    return (refusal.error,)
                self.unanswered = str(refusal.error.fields["message"])
        reply = self.live(request) if self.live is not None else None
        return None if reply is None else (reply,)

    def _from_files(self, request: Request) -> tuple[Value] | None:
        perform = FILES.get(request.operation)
        given = request.arguments[0] if request.arguments else None
        if self.files is None or perform is None or isinstance(given, tuple | list):
            return None  # only a script answers for commands
        try:
            return (perform(self.files, *request.arguments),)
        except Refusal as refusal:
            return (refusal.error,)


def script_of(test: Test, inputs: dict[str, Value]) -> Script:
    """Return the script of a test. Raises Diagnostics."""
    form = test.parts.get("script")
    items = form.items if isinstance(form, VectorForm) else ()
    exchanges: list[Exchange] = []
    rules: list[TableForm] = []
    for item in items:
        if isinstance(item, TableForm):
            rules.append(item)
        elif _is_exchange(item):
            pattern, *reply = item.items
            value = value_of_form(test, reply[0], inputs) if reply else None
            exchanges.append(Exchange(pattern, value))
        else:
            words = "a script holds exchanges `[(op argument…) reply]` and rules `{reply: …}`"
            hint = 'write each out here, or put the rules into a file and name it: replies: "FILE"'
            raise Diagnostics([report_malformed(item.span, words, hint)])
    files = _files(test, inputs)
    if test.answering is not None:
        others = [each for each in exchanges if operation_of(each.pattern) != "model"]
        return Script(others, [], files, test.answering)
    return Script(exchanges, list(_models(test, rules, inputs)), files, live(test.model))


def _is_exchange(item: Form) -> TypeGuard[VectorForm]:
    """Return whether a form is a request with a reply; without a reply it is nil."""
    if not isinstance(item, VectorForm) or len(item.items) not in (1, 2):
        return False
    return operation_of(item.items[0]) is not None


def _models(test: Test, rules: list[TableForm], inputs: dict[str, Value]) -> Iterator[Any]:
    path = test.text("replies")
    try:
        if rules:
            said = [plain(value_of_form(test, rule, inputs)) for rule in rules]
            yield make_replies(check_script(said, "the script"), "the script")
        if path is not None:
            yield make_replies(read_script(beside(test, path)), path)
    except Refusal as refusal:
        place = test.parts["script" if rules else "replies"]
        raise Diagnostics(
            [report_malformed(place.span, str(refusal.error.fields["message"]))]
        ) from None


def _files(test: Test, inputs: dict[str, Value]) -> dict[str, str] | None:
    form = test.parts.get("files")
    if form is None:
        return None
    files = value_of_form(test, form, inputs)
    if not isinstance(files, dict) or not all(isinstance(text, str) for text in files.values()):
        words = 'files are texts by their paths: {"notes/a.txt": "text"}'
        raise Diagnostics([report_malformed(form.span, words)])
    return {_path(name): text for name, text in files.items()}


def _shape(reply: Value, request: Request) -> Value:
    """Return a reply as the program gets it; that of a model may be written as in a file of
    replies."""
    if request.operation != "model" or is_error(reply):
        return reply
    if isinstance(reply, dict) and "content" in reply and "stop_reason" in reply:
        return reply
    try:
        data = plain(reply)
        check_script([data], "the script")
        return value_of(shape_reply(data, "the script", request))
    except Refusal as refusal:
        return refusal.error
    except Fault as fault:
        return refuse(fault.code, fault.message, hint=fault.hint).error


# -- Files that only the test has ---------------------------------------------------------------


def _path(path: Any) -> str:
    from posixpath import normpath

    return normpath(path) if isinstance(path, str) else ""


def _read(files: dict[str, str], path: Any = None, *_: Any) -> str:
    if _path(path) not in files:
        names = ", ".join(sorted(files)) or "none"
        raise refuse("file-not-found", f"there is no {path}", hint=f"the test has: {names}")
    return files[_path(path)]


def _write(files: dict[str, str], path: Any = None, text: Any = "", *_: Any) -> None:
    if not isinstance(path, str) or not isinstance(text, str):
        raise refuse("wrong-type", "`write-file` takes a path and a text")
    files[_path(path)] = text


def _edit(files: dict[str, str], path: Any = None, old: Any = None, new: Any = None) -> None:
    from sexplang.runtime.files.file_writer import replace_passage

    if not isinstance(old, str) or not isinstance(new, str):
        raise refuse("wrong-type", "`edit-file` takes a path and two texts")
    data = _read(files, path).encode()
    files[_path(path)] = replace_passage(data, old, new, path).decode()


def _list(files: dict[str, str], pattern: Any = "*", *_: Any) -> tuple[str, ...]:
    fixed, rest = split_pattern(_path(pattern))
    start = "" if fixed in ("", ".") else fixed.rstrip("/") + "/"
    return tuple(
        sorted(
            name
            for name in files
            if name.startswith(start) and matches(name[len(start) :].split("/"), rest)
        )
    )


FILES: dict[str, Any] = {
    "read-file": _read,
    "write-file": _write,
    "edit-file": _edit,
    "list-files": _list,
}
