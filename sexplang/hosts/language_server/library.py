"""The sources that documents import: open documents first, then files.

Files are read under the permissions that the program would have.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sexplang.hosts.language_server.outline import Outline, Text, outline, text_of
from sexplang.hosts.reference.language_names import standard
from sexplang.hosts.reference.meanings import Meaning, Parameter, public
from sexplang.hosts.reference.python_names import list_python_names
from sexplang.terms.classes.node import define, field
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.template import FunctionCallNode, Template, TemplateNode
from sexplang.terms.values.value import Fault, Task

Find = Callable[[str, str], tuple[Source, ...]]

_MOST = 200
"""The most modules and outlines that are kept."""


@define(eq=False)
class Library:
    """The files as the editor sees them.

    `open` holds the texts of open documents, by absolute path, or by URI if they are no file.
    """

    open: dict[str, str] = field(factory=dict)
    _texts: dict[tuple[str, str], Text] = field(factory=dict)
    _members: dict[tuple[str, str], Mapping[str, Meaning]] = field(factory=dict)
    _outlines: dict[tuple[Any, ...], Outline] = field(factory=dict)

    def copy(self) -> "Library":
        """Return a snapshot, for work that goes on while texts change."""
        return Library(dict(self.open), dict(self._texts), dict(self._members))

    def source(self, name: str) -> Source:
        """Return the source of an open document."""
        return Source(name, self.open.get(name, ""))

    def make_finder(self, name: str) -> Find:
        """Return the function that finds the imports of a document and of its modules."""
        from sexplang.runtime import Permissions
        from sexplang.runtime.files.source_finder import make_finder

        on_disk = make_finder(Permissions(folder=folder_of(name)))

        def find(path: str, importer: str) -> tuple[Source, ...]:
            try:
                found = on_disk(path, importer)
            except Fault as fault:
                whole = os.path.normpath(os.path.join(os.path.dirname(importer), path))
                # A denied path is reported as denied, before a missing file is.
                if fault.code != "import-not-found" or whole not in self.open:
                    raise
                found = (Source(whole, ""),)
            return tuple([self._newest(each) for each in found])

        return find

    def _newest(self, source: Source) -> Source:
        text = self.open.get(source.name)
        return source if text is None else Source(source.name, text)

    def sources(self, path: str, importer: str, document: str) -> tuple[Source, ...]:
        """Return the sources that an import names; empty if they cannot be read."""
        if path.startswith("std/"):
            return _standard(path)
        try:
            return self.make_finder(document)(path, importer)
        except Fault:
            return ()

    def text(self, source: Source) -> Text:
        """Return the Text of a source."""
        key = source.name, source.text
        found = self._texts.get(key)
        if found is None:
            found = text_of(source)
            _keep(self._texts, key, found)
        return found

    def members(self, source: Source) -> Mapping[str, Meaning]:
        """Return the public names of a module, a template file or a Python file."""
        key = source.name, source.text
        found = self._members.get(key)
        if found is None:
            found = self._read_names(source)
            _keep(self._members, key, found)
        return found

    def _read_names(self, source: Source) -> Mapping[str, Meaning]:
        if source.name.endswith(".xml"):
            return _tasks(source)
        if source.name.endswith(".py"):
            return list_python_names(source)
        return public(self.text(source).forms)

    def outline(self, name: str) -> Outline:
        """Return the outline of an open document."""
        source = self.source(name)
        found = {
            each.path: self.sources(each.path, name, name) for each in self.text(source).imports
        }
        key = (name, source.text, *[(s.name, s.text) for group in found.values() for s in group])
        made = self._outlines.get(key)
        if made is None:
            loaded = {path: self._names(sources) for path, sources in found.items()}
            made = outline(self.text(source), lambda path: loaded.get(path, {}))
            _keep(self._outlines, key, made)
        return made

    def _names(self, sources: tuple[Source, ...]) -> Mapping[str, Meaning]:
        names: dict[str, Meaning] = {}
        for source in sources:
            names.update(self.members(source))
        return names

    def beyond(self, path: str, document: str) -> Iterator[str]:
        """Yield the names of all sources that an import brings, directly or not."""
        work = [(path, document)]
        seen: set[str] = set()
        while work:
            wanted, importer = work.pop()
            for source in self.sources(wanted, importer, document):
                if source.name in seen:
                    continue
                seen.add(source.name)
                yield source.name
                if not source.name.endswith((".xml", ".py")):
                    work += [(each.path, source.name) for each in self.text(source).imports]


def folder_of(name: str) -> str | None:
    """Return the folder of a document, if it is a file."""
    return os.path.dirname(name) if os.path.isabs(name) else None


def _standard(path: str) -> tuple[Source, ...]:
    from sexplang.package.package_data import read_shipped

    module = path.removeprefix("std/")
    if not module.replace("-", "").isalpha():
        return ()
    try:
        return (standard(module, read_shipped(f"stdlib/{module}.sexp")),)
    except FileNotFoundError:
        return ()


def _tasks(source: Source) -> Mapping[str, Meaning]:
    from sexplang.templates import read_templates

    try:
        parts = read_templates(source)
    except Diagnostics:
        return {}
    return {
        part.name: task_meaning(part) if isinstance(part, Template) else _function_meaning(part)
        for part in parts
        if not isinstance(part, FunctionCallNode)
    }


def task_meaning(template: Template) -> Meaning:
    """Return the meaning of a task by its template."""
    params = tuple(
        Parameter(
            each.name,
            None,
            None if each.required else ("nil" if each.default is None else str(each.default)),
            each.doc,
            each.type,
        )
        for each in template.params
    )
    doc, shape = template.description, Task(template)
    return Meaning(
        template.name, "task", template.span, template.span, params, doc=doc, shape=shape
    )


def _function_meaning(node: TemplateNode) -> Meaning:
    """Return the meaning of a template that calls another: a function of its parameters."""
    params = tuple(Parameter(name) for name in node.params)
    return Meaning(node.name, "function", node.span, node.span, params)


def _keep(kept: dict[Any, Any], key: Any, value: Any) -> None:
    while len(kept) >= _MOST:
        del kept[next(iter(kept))]
    kept[key] = value
