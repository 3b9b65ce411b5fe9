"""Task types of the past to the form of the language that says the same."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sexplang.templates.xml.vocabulary import normal
from sexplang.templates.xml.xml_parser import Document
from sexplang.terms.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lxml.etree import _Element

# Once XML task types, now said in a program.
FORMS = {
    "sequential": "(let* ((plan (make-plan goal)) (code (write-code plan))) code)",
    "reduce": "(fold (lambda (total item) (combine total (work item))) start items)",
    "script": '(system:run_script "cmd" args: ["a"] input: text)',
    "director_evaluator_loop": "(director-evaluator-loop max_iterations: 5 initial: goal "
    "director: draft executor: run evaluator: judge controller: decide)",
}


def legacy(document: Document) -> list[Diagnostic]:
    """The tasks whose type is of the past; looked for before the structure is, because their
    elements are of the past too."""
    return list(_find(document))


def _find(document: Document) -> Iterator[Diagnostic]:
    for task in _outermost(document.root):
        type_ = normal(task.get("type", ""))
        if type_ in FORMS:
            yield Diagnostic(
                "legacy-task-type",
                f"the task type {type_} is now said in a program",
                (document.label(task, "type"),),
                notes=("a template is one atomic task: one conversation with a model",),
                hint=f"write {FORMS[type_]}",
            )


def _outermost(root: "_Element") -> "Iterator[_Element]":
    if root.tag == "task":
        yield root
        return
    yield from root.iterfind("task")
    yield from root.iterfind("template/task")
