"""`defatom`: the node that XML makes, names and modules, and whatever its clauses hold."""

import pytest
from attrs import evolve
from hypothesis import strategies as st
from support.compiling import PRELUDE, complaint, core, findings
from support.examples import examples

from sexplang.compiler import compile_unit
from sexplang.expander import Expander
from sexplang.pipeline.pipeline import build
from sexplang.pipeline.template_files import type_in
from sexplang.reader import read
from sexplang.templates import check_template, read_templates
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.form import Label, ListForm, Literal, Name, TableForm, VectorForm
from sexplang.terms.program import Program, Unit
from sexplang.terms.source import Source, Span
from sexplang.terms.values.value import Fault

XML = """
<task name="fix" type="atomic" subtype="director" ref="other">
  <returns>(schema {"type": "object", "required": ["a"], "properties": {}})</returns>
  <description>Fix it.</description>
  <provider>anthropic</provider>
  <model>some-model</model>
  <system>You fix {{what}}.</system>
  <criteria>Good at {{note}}.</criteria>
  <params>
    <param name="what" type="string">The thing.</param>
    <param name="times" type="integer" default="3"/>
    <param name="note" required="false"/>
    <param name="marks" type="list" default="[1, &quot;a&quot;]"/>
  </params>
  <inputs><input name="what" from="plan.what"/></inputs>
  <context_relevance>
    <input name="times" include="false"/><input name="what" include="true"/>
  </context_relevance>
  <output_format type="json"/>
  <context_management>
    <inherit_context>none</inherit_context>
    <accumulate_data>true</accumulate_data>
    <accumulation_format>minimal</accumulation_format>
    <fresh_context>enabled</fresh_context>
  </context_management>
  <context_assembly>
    <primary_elements>p</primary_elements><excluded_elements>e</excluded_elements>
  </context_assembly>
  <file_paths source="context_description">
    <context_query>about {{what}}</context_query>
  </file_paths>
  <allowed_tools><tool>read_file</tool><tool>list_files</tool></allowed_tools>
  <limits max_turns="3" max_output_tokens="400" timeout="0.5"/>
  <history_config>
    <use_session_history>false</use_session_history>
    <history_turns_to_include>5</history_turns_to_include>
    <record_in_session_history>false</record_in_session_history>
  </history_config>
  <manual_xml>true</manual_xml>
  <disable_reparsing>false</disable_reparsing>
  <instructions>Fix {{what}} {{times}} times, {{marks}}.</instructions>
</task>"""

SAME = """
(defatom fix
  (subtype director) (ref other)
  (returns (schema {"type": "object", "required": ["a"], "properties": {}}))
  (description "Fix it.")
  (provider "anthropic") (model some-model)
  (system "You fix {{what}}.") (criteria "Good at {{note}}.")
  (params (what string doc: "The thing." from: "plan.what")
          (times integer default: 3)
          (note required: false)
          (marks list default: [1 "a"]))
  (context_relevance times: false what: true)
  (output_format '((type "json")))
  (context_management (inherit_context none) (accumulate_data true)
                      (accumulation_format "minimal") (fresh_context 'enabled))
  (context_assembly {primary_elements: "p" excluded_elements: "e"})
  (file_paths source: context_description context_query: "about {{what}}")
  (allowed_tools read_file "list_files")
  (limits max_turns: 3 max_output_tokens: 400 timeout: 0.5)
  (history_config ((use_session_history false) (history_turns_to_include 5)
                   (record_in_session_history false)))
  (manual_xml true) (disable_reparsing false)
  (instructions "Fix {{what}} {{times}} times, {{marks}}."))"""


def program(text: str, **files: str) -> Program:
    def find(path, importer):
        if path not in files:
            raise Fault("import-not-found", f"there is no file `{path}`")
        name = path if files[path].startswith("(") else f"{path}.xml"
        return (Source(name, files[path]),)

    return build(Source("main", text), find)


def codes(text: str, **files: str) -> list[str]:
    try:
        program(text, **files)
    except Diagnostics as found:
        return [one.code for one in found.diagnostics]
    return []


def test_it_is_the_node_that_its_xml_makes():
    """Every field of a template can be said, and means the same."""
    (template,) = read_templates(Source("fix.xml", XML), read_type=type_in)
    (task,) = program(SAME).tasks

    assert evolve(template, span=None) == evolve(task.template, span=None)


def test_what_is_not_said_is_the_default():
    """As in XML, but for the description."""
    xml = '<task name="a" type="atomic"><instructions>Hi.</instructions></task>'
    (template,) = read_templates(Source("a.xml", xml))
    (task,) = program('(defatom a (instructions "Hi.") (limits max_turns: nil))').tasks
    described = evolve(template, description="Dynamically defined task: a", span=None)

    assert described == evolve(task.template, span=None)


def test_a_task_is_a_constant_known_everywhere():
    """Above its definition and inside functions; no slot, and nil is the value of a declaration."""
    text = '(define (f) (greet)) (defatom greet (instructions "Hi."))'

    assert "(f#0) = (call #greet)" in core(text)
    assert "nil" == core('(defatom greet (instructions "Hi."))')


def test_a_module_gives_its_tasks_to_others():
    """Under their names, checked like any other call; those with `_` stay at home."""
    module = '(defatom greet (params who) (instructions "{{who}}")) (defatom _b (instructions "b"))'

    assert ["wrong-arity"] == codes('(import "m") (greet)', m=module)
    assert ["unbound-name"] == codes('(import "m") (_b)', m=module)
    assert ["greet", "_b"] == [task.name for task in program('(import "m")', m=module).tasks]


def test_a_module_sees_only_what_it_imports():
    """A task that another module knows is not in its scope."""
    files = {"m": '(defatom greet (instructions "Hi."))', "n": "(define (f) (greet))"}

    assert ["unbound-name"] == codes('(import "m") (import "n")', **files)
    assert [] == codes(
        '(import "m") (import "n")', m=files["m"], n='(import "m") (define (f) (greet))'
    )


def test_the_name_of_a_task_is_unique_in_a_program():
    """Whatever defines it, and wherever."""
    atom = '(defatom a (instructions "Hi."))'
    xml = '<task name="a" type="atomic"><instructions>Hi.</instructions></task>'

    assert ["duplicate-task"] == codes(f'{atom} (import "t" as: t)', t=xml)
    assert ["duplicate-task"] == codes(f'{atom} (import "m" as: m)', m=atom)
    assert [] == codes(atom, t=xml)


def test_a_definition_hides_what_is_imported():
    """A task is a definition like any other."""
    module = "(define (a) 1)"

    assert [] == codes('(import "m") (defatom a (params x) (instructions "{{x}}")) (a 1)', m=module)


FINDINGS = [
    ("(defatom a)", "incomplete-template", "a"),
    ('(defatom if (instructions "x"))', "reserved-name", "if"),
    ('(defatom (a) (instructions "x"))', "malformed-form", "(a)"),
    ('(defatom a "x")', "malformed-form", '"x"'),
    ('(defatom a (instructions "x" "y"))', "malformed-form", '"y"'),
    ('(defatom a (instructions "x") (model 3))', "malformed-form", "3"),
    ('(defatom a (instructions "x") (manual_xml yes))', "malformed-form", "yes"),
    ('(defatom a (instructions "x") (limits timeout: 0))', "malformed-form", "0"),
    ('(defatom a (instructions "x") (limits max_turns: true))', "malformed-form", "true"),
    ('(defatom a (instructions "x") (limits max_turns))', "malformed-form", "max_turns"),
    ('(defatom a (instructions "x") (limits max_turns:))', "value-missing", "max_turns:"),
    ('(defatom a (instructions "x") (params "b"))', "malformed-form", '"b"'),
    ('(defatom a (instructions "x") (params (b string 1)))', "malformed-form", "1"),
    ('(defatom a (instructions "x") (params ((b))))', "malformed-form", "((b))"),
    (
        '(defatom a (instructions "x") (params (b default: 1 default: 2)))',
        "duplicate-clause",
        "default:",
    ),
    ('(defatom a (instructions "x") (file_paths))', "malformed-form", "(file_paths)"),
    ('(defatom a (instructions "x")) (define a 1)', "defined-twice", "a"),
    ('(define-effect (a)) (defatom a (instructions "x"))', "defined-twice", "a"),
    (
        '(define (f) (defatom a (instructions "x")))',
        "top-level-only",
        '(defatom a (instructions "x"))',
    ),
]


@pytest.mark.parametrize(("text", "code", "place"), FINDINGS)
def test_a_clause_that_does_not_fit(text, code, place):
    """One error, at the part that is wrong."""
    assert (code, place) == complaint(text)


PLACED = [
    ('(defatom a (params b) (instructions "Say {{c}}."))', "undeclared-placeholder", "{{c}}"),
    ('(defatom a (system "{{c}}") (instructions "Hi."))', "undeclared-placeholder", "{{c}}"),
    ('(defatom a (instructions "\\u007b{c}}"))', "undeclared-placeholder", '"\\u007b{c}}"'),
    ('(defatom a (params b (b)) (instructions "Hi."))', "duplicate-param", "(b)"),
    ('(defatom a (params b!) (instructions "Hi."))', "bad-name", "b!"),
    ('(defatom a%b (instructions "Hi."))', "bad-name", "a%b"),
    ('(defatom a (instructions "Hi.") (allowed_tools b [c]))', "malformed-form", "[c]"),
    ('(defatom a (instructions "Hi.") (allowed_tools b "b"))', "duplicate-tool", '"b"'),
    ('(defatom a (instructions "Hi.") (allowed_tools [b:c b_c]))', "duplicate-tool", "b_c"),
    ('(defatom a (instructions "Hi.") (allowed_tools \'(b "c d")))', "bad-name", '"c d"'),
    ('(defatom a (instructions "Hi.") (allowed_tools ""))', "malformed-form", '""'),
    ('(defatom a (returns strange) (instructions "Hi."))', "bad-schema", "strange"),
    ('(defatom a (file_paths "{{c}}") (instructions "Hi."))', "placeholder-misplaced", "{{c}}"),
    ('(defatom a (model "{{c}}") (instructions "Do."))', "placeholder-misplaced", "{{c}}"),
]


@pytest.mark.parametrize(("text", "code", "place"), PLACED)
def test_what_the_template_check_finds_has_its_place(text, code, place):
    """The clause, or the very placeholder in it."""
    try:
        program(text)
    except Diagnostics as found:
        (one,) = found.diagnostics
        assert (code, place) == (one.code, one.span.text)
    else:
        raise AssertionError("nothing was found")


def test_a_warning_stops_nothing():
    """The subtype may be one that is not known."""
    found = program('(defatom a (subtype strange) (instructions "Hi."))')

    assert [("unknown-subtype", "strange")] == [(w.code, w.span.text) for w in found.warnings]


def test_a_schema_may_be_deep():
    """A bad one is refused in words."""
    deep = "{a: " * 3_000 + "1" + "}" * 3_000

    assert ["bad-schema"] == codes(
        f'(defatom a (instructions "x") (output_format type: json schema: {deep}))'
    )


SPAN = Span(Source("random", "(random)"), 0, 8)
WORDS = ["a", "json", "none", "type", "schema", "quote", "max_turns", "source", "command", "string"]
CLAUSES = ["instructions", "params", "output_format", "context_management", "file_paths", "limits"]
CLAUSES += ["allowed_tools", "history_config", "context_relevance", "context_assembly", "subtype"]
LABELS = [*WORDS, "default", "required", "doc", "from", "paths", "inherit_context", "timeout"]

leaves = st.one_of(
    st.sampled_from(WORDS).map(lambda text: Name(text, span=SPAN)),
    st.sampled_from(LABELS).map(lambda text: Label(text, span=SPAN)),
    st.sampled_from([1, 0.5, "x", "{{a}}", "{", True, None]).map(
        lambda value: Literal(value, span=SPAN)
    ),
)


def _containers(forms):
    items = st.lists(forms, max_size=4).map(tuple)
    return st.one_of(
        items.map(lambda each: ListForm(each, span=SPAN)),
        items.map(lambda each: VectorForm(each, span=SPAN)),
        items.map(lambda each: TableForm(each, span=SPAN)),
    )


forms = st.recursive(leaves, _containers, max_leaves=10)
clauses = st.tuples(st.sampled_from(CLAUSES), st.lists(forms, max_size=4)).map(
    lambda pair: ListForm((Name(pair[0], span=SPAN), *pair[1]), span=SPAN)
)


@examples(80, 400, st.lists(st.one_of(clauses, clauses, clauses, forms), max_size=4))
def test_any_clauses_are_a_task_or_diagnostics(parts):
    """Never another exception."""
    (head,) = read(Source("x", '(defatom a (instructions "x"))'))
    form = ListForm((*head.items, *parts), span=SPAN)
    try:
        unit = compile_unit(
            (form,),
            name="random",
            scope=PRELUDE,
            load=lambda path, span: {},
            layout=lambda: (1, 0),
            main=True,
            expander=Expander,
            check_template=check_template,
        )
    except Diagnostics as found:
        assert any(one.severity == "error" for one in found.diagnostics)
        assert all(one.labels for one in found.diagnostics)
    else:
        assert isinstance(unit, Unit)
        assert ["a"] == [task.name for task in unit.tasks]


def test_the_compiler_alone_checks_no_meaning():
    """That is handed in: the compiler does not know templates."""
    assert () == findings('(defatom a (instructions "{{x}}"))')
