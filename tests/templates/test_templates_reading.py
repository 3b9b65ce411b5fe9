"""XML files to Template nodes: what each element and attribute becomes."""

from attrs import evolve

from sexplang.templates import read_templates
from sexplang.terms.diagnostic import Diagnostic
from sexplang.terms.source import Source
from sexplang.terms.template import (
    ContextManagement,
    FilePaths,
    HistoryConfig,
    Limits,
    OutputFormat,
    Param,
    Template,
)

EVERYTHING = """\
<template name="review" params="code, style" returns="integer">
  <task type="atomic" subtype="evaluator" ref="base">
    <criteria>code that somebody must read</criteria>
    <system>You review.</system>
    <params>
      <param name="style" type="string" default="plain">how to write</param>
      <param name="depth" type="integer" required="false" default="3"/>
      <param name="tags" type="list" default='["a", "b"]'/>
    </params>
    <inputs><input name="code" from="plan.code">what to read</input></inputs>
    <context_relevance><input name="style" include="false"/></context_relevance>
    <context_assembly><primary_elements>code</primary_elements></context_assembly>
    <instructions>
      Review {{code}}
        in the style {{style}}, {{depth}} deep.
    </instructions>
    <description>Reviews code</description>
    <provider>anthropic</provider>
    <model>claude-opus</model>
    <context_management>
      <accumulation_format>minimal</accumulation_format>
      <inherit_context> subset </inherit_context>
      <accumulate_data>true</accumulate_data>
    </context_management>
    <file_paths source="command"><command>find . -name '*.py'</command></file_paths>
    <allowed_tools><tool>read_file</tool><tool>spawn_subtask</tool></allowed_tools>
    <limits max_turns="4" max_output_tokens="900" timeout="1.5"/>
    <history_config>
      <use_session_history>false</use_session_history>
      <history_turns_to_include>5</history_turns_to_include>
    </history_config>
    <manual_xml>true</manual_xml>
    <disable_reparsing>false</disable_reparsing>
  </task>
</template>
"""


def read(text: str, warnings: list[Diagnostic] | None = None) -> tuple[Template, ...]:
    taken = [] if warnings is None else warnings
    types = {"integer": {"type": "integer"}}
    templates = read_templates(
        Source("t.xml", text), taken.append, read_type=lambda written, *_: types[written]
    )
    return tuple(evolve(template, span=None) for template in templates)


def task(inside: str, attributes: str = "") -> Template:
    (template,) = read(f'<task name="t" type="atomic" {attributes}>{inside}</task>')
    return template


def test_every_element_and_attribute_is_read():
    """What inventory 2.1 to 2.3 name and decisions.md adds is a field of Template."""
    expected = Template(
        name="review",
        params=(
            Param("code", doc="what to read", source="plan.code"),
            Param("style", "string", "how to write", False, "plain", relevant=False),
            Param("depth", "integer", required=False, default=3),
            Param("tags", "list", required=False, default=("a", "b")),
        ),
        instructions="Review {{code}}\n  in the style {{style}}, {{depth}} deep.",
        description="Reviews code",
        system="You review.",
        subtype="evaluator",
        provider="anthropic",
        model="claude-opus",
        ref="base",
        output_format=OutputFormat("json", {"type": "integer"}, typed=True),
        context_management=ContextManagement("subset", True, "notes_only", None),
        file_paths=FilePaths("command", (), "find . -name '*.py'"),
        allowed_tools=("read_file", "spawn_subtask"),
        limits=Limits(4, 900, 1.5),
        history_config=HistoryConfig(False, 5, True),
        context_assembly=(("primary_elements", "code"),),
        criteria="code that somebody must read",
        manual_xml=True,
        disable_reparsing=False,
        returns={"type": "integer"},
    )

    assert (expected,) == read(EVERYTHING)


def test_a_file_may_hold_one_task_or_one_template_or_several():
    """Roots: task, template, templates, tasks; in the order of the file."""
    one = '<task name="{}" type="atomic"><description>d</description></task>'
    wrapped = (
        '<template name="{}"><task type="atomic"><description>d</description></task></template>'
    )
    for root in ("templates", "tasks"):
        several = f"<{root}>{one.format('a')}{wrapped.format('b')}{one.format('c')}</{root}>"

        assert [template.name for template in read(several)] == ["a", "b", "c"]

    assert [template.name for template in read(one.format("a"))] == ["a"]
    assert [template.name for template in read(wrapped.format("b"))] == ["b"]


def test_a_template_remembers_where_it_stands():
    """Line 1 is always wrong: the span is the start tag, wherever it is."""
    text = '\n\n  <task name="t" type="atomic"><description>d</description></task>'

    (template,) = read_templates(Source("t.xml", text))

    assert template.span is not None
    assert (
        str(template.span),
        template.span.text,
    ) == ("t.xml:3:3", '<task name="t" type="atomic">')


def test_instructions_lose_the_indentation_of_the_file_and_nothing_else():
    """As a text block: the first and last breaks and the common white space go."""
    cases = {
        "Say hello": "Say hello",
        "  Say hello ": "Say hello",
        "\n      a\n        b\n\n      c\n    ": "a\n  b\n\nc",
        "\n\ta\n\t  b\n": "a\n  b",
        "a\n    b\n      c\n  ": "a\nb\n  c",
        "\r\n  a\r\n  b\r\n": "a\nb",
        "\n\n  a\n\n  ": "\na\n",
        "<![CDATA[\n  if a < b && c\n]]>": "if a < b && c",
        "a<!-- not this -->b": "ab",
        "&lt;plan&gt; &amp; &#233;": "<plan> & é",
    }

    assert cases == {
        text: task(f"<instructions>{text}</instructions>").instructions for text in cases
    }


def test_a_schema_may_be_a_json_schema_between_the_tags_or_in_the_attribute():
    """White space inside the schema's own strings is kept."""
    schema = {"type": "object", "properties": {"a": {"const": "x  y"}}}
    text = '{"type": "object", "properties": {"a": {"const": "x  y"}}}'
    description = "<description>d</description>"

    between = task(f'{description}<output_format type="json">\n {text}\n</output_format>')
    attribute = task(f"{description}<output_format type='json' schema='{text}'/>")

    assert OutputFormat("json", schema) == between.output_format
    assert OutputFormat("json", schema) == attribute.output_format


def test_files_come_from_each_of_the_four_sources():
    """literal (the default) holds paths; the others one text."""
    sources = {
        "<file_paths><path>a.py</path><path>b.py</path></file_paths>": FilePaths(
            "literal", ("a.py", "b.py")
        ),
        '<file_paths source="description"><description>all  tests</description></file_paths>': (
            FilePaths("description", (), "all tests")
        ),
        '<file_paths source="context_description"><context_query>q</context_query></file_paths>': (
            FilePaths("context_description", (), "q")
        ),
        '<file_paths source="command"><command>ls src</command></file_paths>': (
            FilePaths("command", (), "ls src")
        ),
    }

    assert sources == {
        xml: task(f"<description>d</description>{xml}").file_paths for xml in sources
    }


def test_warnings_go_to_report_and_do_not_stop():
    """Deprecated elements, a missing type, an unknown subtype, a minimal context."""
    warnings: list[Diagnostic] = []
    (template,) = read(
        '<task name="t" subtype="standrad"><output_slot>x</output_slot>'
        "<input_source>y</input_source><description>d</description>"
        "<context_management><inherit_context>none</inherit_context>"
        "<fresh_context>disabled</fresh_context></context_management></task>",
        warnings,
    )

    assert template.name == "t"
    assert {"missing-type", "deprecated-element", "unknown-subtype", "minimal-context"} == {
        warning.code for warning in warnings
    }
    assert {"warning"} == {warning.severity for warning in warnings}
    assert "did you mean standard?" in {warning.hint for warning in warnings}


def test_an_encoding_that_the_declaration_claims_is_past():
    """The text is decoded already; a byte order mark is stepped over."""
    body = '<task name="t" type="atomic"><instructions>é€</instructions></task>'

    for head in (
        '<?xml version="1.0" encoding="latin-1"?>',
        '<?xml version="1.0" encoding="UTF-16"?>',
        "\ufeff",
    ):
        assert read(head + body)[0].instructions == "é€"


def test_an_editors_pointer_to_the_schema_is_ignored():
    """xsi:noNamespaceSchemaLocation neither fetches nor changes anything."""
    (template,) = read(
        '<task xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" name="t" type="atomic" '
        'xsi:noNamespaceSchemaLocation="file:///etc/passwd"><description>d</description></task>'
    )

    assert template.name == "t"
