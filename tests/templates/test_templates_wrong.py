"""What is not a template: each with its code, its place and what to type instead."""

import pytest

from sexplang.templates import check_template, read_templates
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.template import ContextManagement, OutputFormat, Param, Template

TASK = '<task name="t" type="atomic">{}</task>'
SAID = "<instructions>do it</instructions>"
TOOL = "<tool>read_file</tool>"


def wrong(text: str) -> tuple[Diagnostic, ...]:
    """A blank first line: line 1 is always wrong."""
    with pytest.raises(Diagnostics) as caught:
        read_templates(Source("t.xml", "\n" + text))
    return caught.value.diagnostics


def only(text: str) -> Diagnostic:
    found = wrong(text)
    assert len(found) == 1, found
    return found[0]


def place(diagnostic: Diagnostic) -> str:
    assert diagnostic.span is not None
    return diagnostic.span.text


@pytest.mark.parametrize(
    ("code", "text", "where", "words"),
    [
        ("xml-malformed", "<task>a & b</task>", " ", "write & as &amp;"),
        ("xml-malformed", "<task>one&nbsp;two</task>", "&nbsp;", "or &#160;"),
        ("xml-malformed", "<task><!-- &a; --><![CDATA[&b;]]>&c;</task>", "&c;", "&amp; &lt;"),
        ("xml-malformed", '<task name="&eacute;"/>', "&eacute;", "or &#233;"),
        ("xml-malformed", "<task><a></task>", "", "close the innermost"),
        ("xml-malformed", "<task/><task/>", "<", "inside one <templates>"),
        ("xml-malformed", "hello", "h", 'begin with <task name="…">'),
        ("xml-malformed", "", "", 'begin with <task name="…">'),
        ("xml-invalid", "<tusk/>", "<tusk/>", 'begin with <task name="…">'),
        (
            "xml-invalid",
            TASK.format("<instruction>a</instruction>"),
            "<instruction>",
            "did you mean <instructions>?",
        ),
        ("xml-invalid", TASK.format(SAID + SAID), "<instructions>", "keep one"),
        (
            "xml-invalid",
            '<task name="t" modle="m">' + SAID + "</task>",
            'modle="m"',
            "no attribute modle",
        ),
        (
            "xml-invalid",
            '<task name="t" model="m">' + SAID + "</task>",
            'model="m"',
            "<model>m</model>",
        ),
        ("bad-name", f'<task name="3" type="atomic">{SAID}</task>', 'name="3"', "is data"),
        ("bad-name", f'<task name="true" type="atomic">{SAID}</task>', 'name="true"', "is data"),
        ("bad-name", f'<task name="2x" type="atomic">{SAID}</task>', 'name="2x"', "a bad number"),
        ("bad-name", f'<task name="a:" type="atomic">{SAID}</task>', 'name="a:"', "called `a:`"),
        (
            "bad-name",
            '<template name="t" params="a,,b"><task>' + SAID + "</task></template>",
            'params="a,,b"',
            "a parameter has no name",
        ),
        (
            "bad-name",
            '<template name="t" params="a, "><call template="u"/></template>',
            'params="a, "',
            "a parameter has no name",
        ),
        (
            "xml-invalid",
            TASK.format(SAID + '<params names="a"/>'),
            'names="a"',
            "it has no attributes; it holds <param>",
        ),
        (
            "xml-invalid",
            TASK.format('<instructions lang="en">Tell me.</instructions>'),
            'lang="en"',
            "it has no attributes; it holds text",
        ),
        (
            "xml-invalid",
            TASK.format(SAID + "<manual_xml>1</manual_xml>"),
            "<manual_xml>",
            "false or true",
        ),
        (
            "xml-invalid",
            TASK.format(SAID + '<limits max_turns="0"/>'),
            'max_turns="0"',
            "a whole number from 1",
        ),
        (
            "xml-invalid",
            TASK.format(SAID + '<output_format type="jsn"/>'),
            'type="jsn"',
            "did you mean json?",
        ),
        (
            "xml-invalid",
            TASK.format("<instructions>a <b>c</b></instructions>"),
            "<instructions>",
            "<![CDATA[",
        ),
        ("xml-invalid", TASK.format(SAID + "words"), '<task name="t" type="atomic">', "no text"),
        ("xml-invalid", '<template name="t"/>', '<template name="t"/>', "needs <call> or <task>"),
        (
            "xml-invalid",
            TASK.format(SAID + '<file_paths source="command"><path>a</path></file_paths>'),
            '<file_paths source="command">',
            "command one <command>",
        ),
        ("xml-invalid", '<task xmlns="urn:x"/>', '<task xmlns="urn:x"/>', "remove the prefix"),
        ("incomplete-template", "<task>" + SAID + "</task>", "<task>", 'name="…"'),
        ("incomplete-template", TASK.format(""), '<task name="t" type="atomic">', "<instructions>"),
        (
            "legacy-task-type",
            '<task type="sequential"><steps/></task>',
            'type="sequential"',
            "write (let*",
        ),
        (
            "unbound-name",
            "<templates>"
            + TASK.format(SAID)
            + '<call template="f"><arg>x</arg></call></templates>',
            "<arg>",
            'write <arg>"x"</arg>',
        ),
        (
            "duplicate-template",
            "<tasks>" + TASK.format(SAID) * 2 + "</tasks>",
            'name="t"',
            "two templates called t",
        ),
        (
            "duplicate-param",
            TASK.format(SAID + '<inputs><input name="a"/><input  name="a" /></inputs>'),
            'name="a"',
            "two parameters called a",
        ),
        (
            "duplicate-param",
            '<template name="t" params="a a"><task>' + SAID + "</task></template>",
            'params="a a"',
            "two parameters called a",
        ),
        (
            "duplicate-tool",
            TASK.format(f"{SAID}<allowed_tools>{TOOL}{TOOL.replace('>', ' >', 1)}</allowed_tools>"),
            "<tool >",
            "the tool read_file is allowed twice",
        ),
        (
            "duplicate-tool",
            TASK.format(f"{SAID}<allowed_tools><tool>a:b</tool><tool >a_b</tool></allowed_tools>"),
            "<tool >",
            "could not tell a_b from a:b: to it both are a_b",
        ),
        (
            "bad-name",
            TASK.format(SAID + "<allowed_tools><tool>a\n b</tool></allowed_tools>"),
            "<tool>",
            "a tool cannot be called `a b`",
        ),
        *(
            (
                "bad-name",
                TASK.format(SAID + f"<allowed_tools><tool>{name}</tool></allowed_tools>"),
                "<tool>",
                "a tool cannot be called",
            )
            for name in ("read_file,list_files", "read\u200b_file", ":", "3")
        ),
        (
            "xml-invalid",
            TASK.format(SAID + "<allowed_tools><tool> </tool></allowed_tools>"),
            "<tool>",
            "<tool> is empty",
        ),
        ("bad-name", f'<task name="a b">{SAID}</task>', 'name="a b"', "cannot be called `a b`"),
        (
            "bad-name",
            TASK.format(SAID + '<params><param name="a.b"/></params>'),
            '<param name="a.b"/>',
            "cannot be called `a.b`",
        ),
        (
            "bad-default",
            TASK.format(SAID + '<params><param name="a" type="integer" default="x"/></params>'),
            '<param name="a" type="integer" default="x"/>',
            "not of type integer",
        ),
        (
            "bad-default",
            TASK.format(SAID + '<params><param name="a" required="true" default="x"/></params>'),
            '<param name="a" required="true" default="x"/>',
            "never used",
        ),
        (
            "undeclared-placeholder",
            TASK.format(
                '<params><param name="topic"/></params><instructions>On {{ topc.x }}</instructions>'
            ),
            "{{ topc.x }}",
            "did you mean topic?",
        ),
        (
            "placeholder-call",
            TASK.format("<instructions>{{f(a, k='v')}}</instructions>"),
            "{{f(a, k='v')}}",
            'call (f a k: "v") in the program',
        ),
        (
            "unclosed-placeholder",
            TASK.format("<instructions>x {{name y</instructions>"),
            "{{name y",
            "write {{{{",
        ),
        (
            "bad-placeholder",
            TASK.format('<instructions>{{"a"}}</instructions>'),
            '{{"a"}}',
            "write {{{{",
        ),
        (
            "context-exclusive",
            TASK.format(
                SAID + "<context_management><fresh_context>enabled</fresh_context>"
                "<inherit_context>subset</inherit_context></context_management>"
            ),
            "<context_management>",
            "<inherit_context>none</inherit_context>",
        ),
        (
            "bad-schema",
            TASK.format(SAID + '<output_format type="json" schema="objects"/>'),
            '<output_format type="json" schema="objects"/>',
            "write object, array",
        ),
        (
            "bad-schema",
            TASK.format(SAID + '<output_format type="json">{"type": "objct"}</output_format>'),
            '<output_format type="json">',
            "objct",
        ),
        (
            "bad-schema",
            TASK.format(SAID + '<output_format type="json">{"a": </output_format>'),
            '<output_format type="json">',
            "is not JSON",
        ),
        (
            "bad-schema",
            TASK.format(SAID + '<output_format type="text" schema="object"/>'),
            '<output_format type="text" schema="object"/>',
            "no schema",
        ),
        (
            "unknown-param",
            TASK.format(
                SAID + '<context_relevance><input name="q" include="true"/></context_relevance>'
            ),
            '<input name="q" include="true"/>',
            "no parameter",
        ),
    ],
)
def test_each_mistake_has_a_code_a_place_and_a_remedy(code, text, where, words):
    """The place is the element, or the attribute, or the very placeholder."""
    diagnostic = only(text)

    assert (code, "error") == (diagnostic.code, diagnostic.severity)
    assert words in f"{diagnostic.title} ({diagnostic.hint})"
    assert place(diagnostic).startswith(where) if where else True
    assert diagnostic.span is not None
    assert diagnostic.span.begin.line >= 2 or not text


def test_all_undeclared_placeholders_are_reported_together_and_once_each():
    """In every text that a call fills."""
    found = wrong(
        TASK.format(
            "<system>{{s}}</system><instructions>\n  {{a}} {{b}} {{a}}\n</instructions>"
            "<description>{{d}}</description><criteria>{{c}}</criteria>"
            '<file_paths source="context_description">'
            "<context_query>{{q}}</context_query></file_paths>"
        )
    )

    assert sorted("abcdqs") == sorted(place(diagnostic).strip("{}") for diagnostic in found)
    assert {"undeclared-placeholder"} == {diagnostic.code for diagnostic in found}


@pytest.mark.parametrize(
    ("element", "where"),
    [
        ('<file_paths source="command"><command>ls {{p.a}}</command></file_paths>', "{{p.a}}"),
        ("<file_paths><path>a.md</path><path>docs/{{p}}</path></file_paths>", "{{p}}"),
        ("<file_paths><path>docs/{{q}}</path></file_paths>", "{{q}}"),
        ("<file_paths><path>docs/{{q</path></file_paths>", "{{q"),
        ("<model>{{p}}</model>", "{{p}}"),
        ("<provider>{{p}}</provider><model>m</model>", "{{p}}"),
        (
            "<context_assembly><primary_elements>{{p}}.md</primary_elements></context_assembly>",
            "{{p}}",
        ),
    ],
)
def test_no_parameter_stands_in_what_is_run_opened_or_asked(element, where):
    """Whether it is declared or not: whoever gives the input would say what is done."""
    found = only(TASK.format(f'{SAID}<params><param name="p"/></params>{element}'))

    assert ("placeholder-misplaced", where) == (found.code, place(found))


def test_escaped_braces_are_no_placeholder():
    """`{{{{` writes two braces."""
    text = TASK.format("<instructions>write {{{{name}} and {{{{ {x: {}}</instructions>")

    assert len(read_templates(Source("t.xml", text))) == 1


def test_all_mistakes_of_a_structure_are_reported_together():
    """Unknown elements beside each other, attributes and values at once."""
    codes = [
        (diagnostic.code, place(diagnostic))
        for diagnostic in wrong(
            '<task name="t" nme="x"><instrctions/><descripton/><limits max_turns="many"/></task>'
        )
    ]

    assert {
        ("xml-invalid", 'nme="x"'),
        ("xml-invalid", "<instrctions/>"),
        ("xml-invalid", "<descripton/>"),
    } <= set(codes)


@pytest.mark.parametrize("inherit", ["full", "subset", "none", None])
@pytest.mark.parametrize("accumulate", [True, False, None])
@pytest.mark.parametrize("fresh", ["enabled", "disabled", None])
def test_the_four_illegal_rows_are_refused_and_no_other(inherit, accumulate, fresh):
    """Only what was set explicitly can conflict; the node and the XML agree."""
    settings = {"inherit_context": inherit, "accumulate_data": accumulate, "fresh_context": fresh}
    template = Template("t", instructions="x", context_management=ContextManagement(**settings))
    elements = "".join(
        f"<{key}>{str(value).lower()}</{key}>"
        for key, value in settings.items()
        if value is not None
    )
    text = TASK.format(SAID + f"<context_management>{elements}</context_management>")

    errors = [d.code for d in check_template(template) if d.severity == "error"]
    illegal = fresh == "enabled" and inherit in ("full", "subset")

    assert (["context-exclusive"] if illegal else []) == errors
    if illegal:
        assert only(text).code == "context-exclusive"
    else:
        assert len(read_templates(Source("t.xml", text))) == 1


def test_a_node_is_checked_like_its_xml():
    """`defatom` uses the same checks."""
    template = Template(
        "t!{",
        params=(Param("a"), Param("a"), Param("b", "boolean", required=False, default=3)),
        instructions="{{c}} {{d(1)}} {{",
        output_format=OutputFormat("json", "strings"),
        returns={"type": "objects"},
        subtype="other",
    )

    assert {
        "bad-name",
        "duplicate-param",
        "bad-default",
        "undeclared-placeholder",
        "placeholder-call",
        "unclosed-placeholder",
        "bad-schema",
        "duplicate-clause",
        "unknown-subtype",
    } == {diagnostic.code for diagnostic in check_template(template)}
    assert [diagnostic.code for diagnostic in check_template(Template(""))] == [
        "incomplete-template",
        "incomplete-template",
    ]
    assert check_template(Template("review-code", description="d")) == []


def laughs() -> str:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE a [<!ENTITY l0 "lol">{entities}]><task>&l9;</task>'


ATTACKS = {
    "external entity": (
        "xml-dtd-forbidden",
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><task>&x;</task>',
    ),
    "external entity over http": (
        "xml-dtd-forbidden",
        '<!DOCTYPE a [<!ENTITY x SYSTEM "http://127.0.0.1:9/x">]><task>&x;</task>',
    ),
    "parameter entity": (
        "xml-dtd-forbidden",
        '<!-- x --><!DOCTYPE a [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><task/>',
    ),
    "external dtd": ("xml-dtd-forbidden", '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/x"><task/>'),
    "billion laughs": ("xml-dtd-forbidden", laughs()),
    "quadratic blow-up": (
        "xml-dtd-forbidden",
        f'<!DOCTYPE a [<!ENTITY x "{"x" * 50_000}">]><task>{"&x;" * 10_000}</task>',
    ),
    "entity loop": (
        "xml-dtd-forbidden",
        '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY x "&y;"><!ENTITY y "&x;">]><task>&x;</task>',
    ),
    "depth": ("xml-too-large", "<task>" * 129 + "</task>" * 129),
    "unclosed depth": ("xml-too-large", "<a>" * 100_000),
    "siblings": ("xml-too-large", "<tasks>" + "<a/>" * 200_000 + "</tasks>"),
    "bad siblings": ("xml-invalid", "<tasks>" + "<a/>" * 5_000 + "</tasks>"),
    "attributes": (
        "xml-too-large",
        "<task " + " ".join(f'a{n}="x"' for n in range(20_000)) + "/>",
    ),
    "size": ("xml-too-large", "<task>" + "x" * 11_000_000 + "</task>"),
    "long name": ("xml-malformed", "<" + "a" * 100_000 + "/>"),
    "instruction": ("xml-pi-forbidden", "<task><?php evil ?></task>"),
    "stylesheet": ("xml-pi-forbidden", '<?xml-stylesheet href="file:///x"?><task/>'),
    "include": (
        "xml-invalid",
        '<task xmlns:i="http://www.w3.org/2001/XInclude"><i:include href="file:///x"/></task>',
    ),
    "type hint": (
        "xml-invalid",
        '<task xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="WrappedTask"/>',
    ),
    "nul": ("xml-malformed", "<task>\0</task>"),
    "lone surrogate": ("xml-malformed", "<task>\ud800</task>"),
    "open braces": (
        "unclosed-placeholder",
        TASK.format(f"<system>{'{{ ' * 50_000}</system>{SAID}"),
    ),
    "comments": ("xml-malformed", "<!-- " + "<!--" * 100_000),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.timeout(10)
def test_an_attack_is_refused_at_once(name):
    """Each has its code; one that took quadratic time would never end."""
    code, text = ATTACKS[name]
    with pytest.raises(Diagnostics) as caught:
        read_templates(Source("t.xml", text))

    assert {diagnostic.code for diagnostic in caught.value.diagnostics} == {code}


def said_of(text):
    with pytest.raises(Diagnostics) as caught:
        read_templates(Source("t.xml", text))
    return [(each.code, each.title, each.hint) for each in caught.value.diagnostics]


def test_an_empty_name_is_no_second_parameter():
    """What is empty is said to be, and nothing else."""
    text = '<task name="a" type="atomic"><params><param name=""/></params>'
    found = said_of(text + "<instructions>x</instructions></task>")

    assert [("xml-invalid", "name is empty", "write something there")] == found


def test_a_setting_that_stands_as_an_attribute_is_shown_where_it_belongs():
    text = '<task name="a" type="atomic" inherit_context="none">'
    ((code, title, hint),) = said_of(text + "<instructions>x</instructions></task>")

    assert ("xml-invalid", "<task> has no attribute inherit_context") == (code, title)
    assert hint == (
        "write it as an element: "
        "<context_management><inherit_context>none</inherit_context></context_management>"
    )
