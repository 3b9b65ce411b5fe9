"""Calls in template files: functions of a program like any others, wrong ones refused in place."""

from xml.sax.saxutils import escape

import pytest
from hypothesis import example, given, settings
from hypothesis.strategies import sampled_from, text
from support.sources import no_files

from sexplang.pipeline.pipeline import build
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source

DRAFT = (
    '<task name="draft" type="atomic"><params><param name="topic"/></params>'
    "<instructions>{{topic}}</instructions></task>"
)
OTHER = '<task name="other" type="atomic">%s<instructions>Go.</instructions></task>'


def calling(argument, params="", name="f", template="draft"):
    call = f'<call template="{template}"><arg>{argument}</arg></call>'
    return f'<template name="{name}" params="{params}">{call}</template>'


def built(xml, program=None):
    source = Source("a.xml", f"<templates>{DRAFT}{xml}</templates>")
    main = source if program is None else Source("main", program)
    return build(main, lambda path, importer: (source,))


@pytest.mark.parametrize(
    ("xml", "code"),
    [
        (calling("1", template="g"), "unbound-name"),
        ('<template name="f"><call template="draft"/></template>', "wrong-arity"),
        (calling("map"), "unbound-name"),
        (calling("a b"), "bad-argument"),
        (calling(""), "bad-argument"),
        (calling('{"a": 1, "a": 2}'), "bad-argument"),
        (calling("f", params="f", template="f"), "endless-call"),
        (calling(r'"\ud800"'), "bad-argument"),
        (calling(r'{"\ud800": 1}'), "bad-argument"),
        (calling("plan.a[0].b", params="plan"), "bad-argument"),
        (calling("true", params="true"), "bad-name"),
        (calling("1", params="nil"), "bad-name"),
        (calling("1", name="if"), "reserved-name"),
        (calling("a", params="a,a"), "duplicate-param"),
        ('<template name="f" returns="object"><call template="draft"/></template>', "xml-invalid"),
        ('<call template="draft"><arg>topic</arg></call>', "unbound-name"),
    ],
)
def test_a_wrong_call_is_refused_at_its_place(xml, code):
    """When the file is read."""
    with pytest.raises(Diagnostics) as refused:
        built(xml)

    assert code == refused.value.diagnostics[0].code
    assert refused.value.diagnostics[0].span.start > 0


def test_a_file_that_calls_is_run_and_not_imported():
    """An import binds names."""
    call = '<call template="draft"><arg>"tea"</arg></call>'
    with pytest.raises(Diagnostics) as refused:
        built(call, '(import "a.xml")')

    assert "effect-at-import" == refused.value.diagnostics[0].code
    assert 1 == len(built(call).units[-1].items)


def test_a_call_may_name_a_template_of_the_importing_program():
    """Wherever it is defined."""
    calls = '<template name="f"><call template="other"/></template>'

    assert built(calls, '(import "a.xml") (defatom other (instructions "Go.")) (f)')


@settings(max_examples=150)
@given(text(sampled_from("ab2-+.:_!?*/=<>tnx0é\u0430\u212b\u0663"), min_size=1, max_size=5))
@example("true")
@example("null")
@example("1e3")
@example("->")
def test_a_task_is_refused_or_can_be_called(name):
    """Whatever its name: as a word of a program and, where it is a parameter, as a label."""
    task = f'<task name="{escape(name)}" type="atomic">{{}}<instructions>Go.</instructions></task>'
    wanted = f'<params><param name="{escape(name)}"/></params>'
    for written, call in ((task.format(""), f"({name})"), (OTHER % wanted, f"(other {name}: 1)")):
        source = Source("a.xml", written)
        try:
            build(source, no_files)
        except Diagnostics:
            continue
        found = (source,)
        assert build(Source("main", f'(import "a.xml") {call}'), lambda *_, found=found: found)


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("sequential", "(let* "),
        ("reduce", "(fold "),
        ("script", "(system:run_script "),
        ("director_evaluator_loop", "(director-evaluator-loop "),
    ],
)
def test_each_task_type_of_the_past_is_refused_with_its_form(kind, form):
    """Whatever it holds, and whatever else is wrong with it."""
    with pytest.raises(Diagnostics) as raised:
        built(f'<task name="old" type="{kind}"><steps/><inner_task/></task>')
    (found,) = raised.value.diagnostics

    assert ("legacy-task-type", f'type="{kind}"') == (found.code, found.span.text)
    assert found.hint.startswith(f"write {form}")
