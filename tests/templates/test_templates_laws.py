"""Properties: any text is templates or Diagnostics, what is written is read, and lxml with our
rules says what XSD 1.1 says."""

from xml.sax.saxutils import escape, quoteattr

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from support.xsd_oracle import first_breach

from sexplang.package.package_data import read_shipped
from sexplang.templates import check_template, read_templates
from sexplang.templates.xml.structure import RULES, breaches
from sexplang.templates.xml.xml_parser import parse
from sexplang.terms.classes.node import attributes
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.template import (
    ContextManagement,
    FilePaths,
    HistoryConfig,
    Limits,
    OutputFormat,
    Param,
    Template,
    tool_alias,
)

TEXT = """
task template templates tasks name type atomic sequential instructions description params param
inputs input output_format json schema object true false context_management fresh_context enabled
inherit_context full limits max_turns x {{x}} {{ }} {{{{ & &amp; <![CDATA[ ]]> <!-- -->
<? ?> <!DOCTYPE
"""
WORDS = TEXT.split()
PUNCTUATION = ["<", ">", "/>", "</", "=", '"', "'", " ", "\n", 'name="x"', "<task", "</task>"]


@given(st.lists(st.sampled_from(WORDS + PUNCTUATION), max_size=40).map("".join) | st.text())
def test_any_text_gives_templates_or_diagnostics(text):
    """Never another exception, and every diagnostic has a place inside the text."""
    try:
        read_templates(Source("t.xml", text))
    except Diagnostics as refused:
        for diagnostic in refused.diagnostics:
            assert diagnostic.span is not None
            assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)
            assert str(diagnostic)


# --- what is written is read

letters = st.characters(
    codec="utf-8", categories=["L", "N", "P", "S", "Zs"], exclude_characters="{}"
)
prose = (
    st.lists(st.text(letters, max_size=12), min_size=1, max_size=4)
    # White space alone on a line is not kept.
    .map(lambda lines: "\n".join(line if line.strip() else "" for line in lines))
    .filter(lambda text: any(line[:1].strip() for line in text.split("\n")))
)
word = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
DATA = {"true", "false", "nil", "null"}
"""What is data in a program names nothing."""
name = st.from_regex(r"[a-z_][a-z0-9_-]{0,6}", fullmatch=True).filter(lambda name: name not in DATA)
tool = word.filter(lambda name: not name[:1].isnumeric() and name not in DATA)
params = st.lists(
    st.builds(
        Param,
        name,
        st.sampled_from(["any", "string", "number", "integer", "boolean", "list", "object"]),
        doc=word,
        required=st.booleans(),
        source=st.none() | name,
        relevant=st.booleans(),
    ),
    max_size=3,
    unique_by=lambda param: param.name,
).map(tuple)
commands = st.sampled_from(["ls", "ls -a src", "git ls-files '*.py'", "find . -name '*.md' -print"])
files = (
    st.builds(FilePaths, paths=st.lists(word, max_size=3).map(tuple)).filter(
        lambda paths: paths.paths
    )
    | st.builds(FilePaths, st.sampled_from(["description", "context_description"]), text=word)
    | st.builds(FilePaths, st.just("command"), text=commands)
)
templates = st.builds(
    Template,
    name=name,
    params=params,
    instructions=prose,
    description=st.just("") | prose,
    system=st.just("") | prose,
    criteria=st.just("") | prose,
    subtype=st.sampled_from(["standard", "director", "subtask"]),
    provider=st.none() | word,
    model=st.none() | word,
    ref=st.none() | word,
    returns=st.none(),
    output_format=st.just(OutputFormat())
    | st.builds(
        OutputFormat,
        st.just("json"),
        st.none() | st.sampled_from(["object", "[]", "number[]"]) | st.just({"type": "object"}),
    ),
    context_management=st.builds(
        ContextManagement,
        st.none() | st.sampled_from(["full", "none", "subset"]),
        st.none() | st.booleans(),
        st.none() | st.sampled_from(["notes_only", "full_output"]),
        st.none() | st.just("disabled"),
    ),
    file_paths=st.just(FilePaths()) | files,
    allowed_tools=st.lists(tool, max_size=2, unique_by=tool_alias).map(tuple),
    limits=st.builds(
        Limits,
        st.none() | st.integers(1, 99),
        st.none() | st.integers(1, 99),
        st.none() | st.sampled_from([0.5, 2.0]),
        *[st.none() | st.integers(1, 9)] * 4,
    ),
    history_config=st.builds(
        HistoryConfig, st.booleans(), st.none() | st.integers(1, 9), st.booleans()
    ),
    manual_xml=st.booleans(),
    disable_reparsing=st.booleans(),
)


def element(tag: str, inside: str = "", **attributes: object) -> str:
    given = "".join(
        f" {key.rstrip('_')}={quoteattr(flat(value))}"
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{given}>{inside}</{tag}>"


def flat(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def block(tag: str, text: str) -> str:
    indented = "\n".join(f"    {line}" for line in text.split("\n"))
    return element(tag, f"\n{escape(indented)}\n  ") if text else ""


def fields(holder: object, names: str) -> str:
    given = ((key, getattr(holder, key)) for key in names.split())
    return "".join(element(key, escape(flat(v))) for key, v in given if v is not None)


def xml(template: Template) -> list[str]:
    """The parts of a `<task>`, in some order."""
    json = template.output_format.schema
    files = template.file_paths
    kind = "context_query" if files.source == "context_description" else files.source
    paths = [element("path", escape(path)) for path in files.paths]
    parts = [
        *(block(tag, getattr(template, tag)) for tag in ("instructions", "description")),
        *(block(tag, getattr(template, tag)) for tag in ("system", "criteria")),
        fields(template, "provider model manual_xml disable_reparsing"),
        element(
            "output_format",
            '{"type":"object"}' if isinstance(json, dict) else "",
            type=template.output_format.type,
            schema=json if isinstance(json, str) else None,
        ),
        element(
            "context_management",
            fields(
                template.context_management,
                "fresh_context inherit_context accumulate_data accumulation_format",
            ),
        ),
        element("allowed_tools", "".join(element("tool", t) for t in template.allowed_tools)),
        element(
            "limits",
            **attributes(template.limits),
        ),
        element(
            "history_config",
            fields(
                template.history_config,
                "use_session_history history_turns_to_include record_in_session_history",
            ),
        ),
        element(
            "params",
            "".join(
                element("param", escape(p.doc), name=p.name, type=p.type, required=p.required)
                for p in template.params
            ),
        ),
        element(
            "inputs",
            "".join(
                element("input", name=p.name, from_=p.source) for p in template.params if p.source
            ),
        ),
        element(
            "context_relevance",
            "".join(element("input", name=p.name, include=p.relevant) for p in template.params),
        ),
    ]
    if files != FilePaths():
        inside = "".join(paths) if paths else element(kind, escape(files.text))
        parts.append(element("file_paths", inside, source=files.source))
    return [part for part in parts if part]


def task(template: Template, parts: list[str]) -> str:
    return element(
        "task",
        "\n  ".join(parts),
        name=template.name,
        type="atomic",
        subtype=template.subtype,
        ref=template.ref,
    )


@given(templates, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_what_is_written_is_read(template, chance):
    """In whatever order the elements stand."""
    parts = xml(template)
    chance.shuffle(parts)
    text = task(template, parts)

    (read,) = read_templates(Source("t.xml", text))

    assert evolve(read, span=None) == template
    assert [d for d in check_template(read) if d.severity == "error"] == []


# --- lxml and our rules against XSD 1.1


XSD = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>'
FITTING = {
    "type": ["atomic", "json", "text", "xml", "object"],
    "output_format": ["", " ", "{}", XSD, f" {XSD} ", f"{XSD}{{}}"],
    "source": ["literal", "command", "context_description"],
    "max_turns": ["1", "12"],
    "max_output_tokens": ["999"],
    "timeout": ["0.5", "3"],
    "history_turns_to_include": ["3"],
    "inherit_context": ["full", " none ", "subset"],
    "accumulation_format": ["notes_only", "full"],
    "fresh_context": ["enabled", "disabled"],
    "required": ["true", "false"],
    "include": ["true", "false"],
    "manual_xml": ["true", "false"],
    "accumulate_data": ["true", "false"],
    "use_session_history": ["true", "false"],
}
# No no-break space: xmlschema collapses it, as XSD does not.
ODD = ["true", "1", "full", "enabled", "object", "0", "x", "", " ", "\t", "none"]
TAGS = {
    "task": "description instructions params inputs output_format context_management "
    "file_paths limits manual_xml model context_relevance history_config nonsense",
    "template": "task nonsense",
    "templates": "task template",
    "tasks": "task template nonsense",
    "params": "param",
    "inputs": "input",
    "context_relevance": "input",
    "context_management": "inherit_context accumulate_data accumulation_format fresh_context",
    "file_paths": "path command description context_query",
    "history_config": "use_session_history history_turns_to_include",
}
ATTRIBUTES = {
    "task": "name type subtype returns nonsense",
    "template": "name params returns",
    "param": "name type required default",
    "input": "name from include",
    "output_format": "type schema",
    "returns": "from",
    "file_paths": "source",
    "limits": "max_turns max_output_tokens timeout max_depth max_subtasks max_plan_depth",
}


@st.composite
def documents(draw, tag="", depth=0):
    """Mostly right documents: wrong now and then in every way the schema knows."""

    def rarely():
        return draw(st.integers(0, 19)) == 0

    def value(key):
        return draw(st.sampled_from(ODD if rarely() else FITTING.get(key, ["x", "y"])))

    tag = tag or draw(st.sampled_from(["task", "task", "template", "templates", "tasks"]))
    known = [key for key in ATTRIBUTES.get(tag, "").split() if key != "nonsense" or rarely()]
    given = {key: value(key) for key in known if draw(st.booleans())}
    if tag == "task" and not rarely():
        given.pop("type", None)
    if "name" in known and depth < 2 and not rarely():
        given["name"] = draw(st.sampled_from("abcdef"))
    inside = value(tag) if draw(st.integers(0, 4)) else ""
    if tag in TAGS and depth < 4:
        children = draw(st.lists(st.sampled_from(TAGS[tag].split()), max_size=4))
        if not rarely():
            children = [child for child in children if child != "nonsense"]
        if tag not in ("templates", "tasks", "params", "inputs", "file_paths") and not rarely():
            children = list(dict.fromkeys(children))
        if tag == "task" and not rarely():
            children = ["instructions", *(c for c in children if c != "instructions")]
        if tag == "template" and not rarely():
            children = ["task"]
        inside = "".join(draw(documents(tag=child, depth=depth + 1)) for child in children)
    elif tag in ("limits", "params") and not rarely():
        inside = ""
    return element(tag, inside, **given)


def test_lxml_and_our_rules_say_what_xsd_1_1_says():
    """The verdict of the fast way is that of the whole schema; either is reached often enough to
    say something."""
    verdicts = {True: 0, False: 0}

    @given(documents())
    @settings(max_examples=300)
    def law(text):
        ours = not breaches(parse(Source("t.xml", text)))
        theirs = first_breach(text)
        verdicts[ours] += 1

        assert ours == (theirs is None), theirs

    law()
    assert min(verdicts.values()) >= 20


def test_every_assertion_of_the_schema_has_its_rule():
    """And every rule its assertion."""
    from lxml import etree

    schema = etree.fromstring(read_shipped("grammar/template.xsd").encode())
    asserts = [a.get("id") for a in schema.iter("{http://www.w3.org/2001/XMLSchema}assert")]

    assert sorted(asserts) == sorted(RULES)
