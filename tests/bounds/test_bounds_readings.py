"""Replies that have a second reading: asked again, and never answered with the other one."""

import pytest

from sexplang.templates import read_reply
from sexplang.terms.template import OutputFormat

TABLE = OutputFormat("json", "object")
BOOLEAN = {"type": "boolean"}
TEXT = {"type": "string"}


def typed(*branches):
    return OutputFormat("json", {"anyOf": list(branches)}, typed=True)


ASKED_AGAIN = [
    ('{"a": "x\\\ny"}', TABLE, "a backslash before a line break or tab"),
    ('{"a": "x\\\ty"}', TABLE, "a backslash before a line break or tab"),
    ("{'a': 'x\\\r\ny'}", TABLE, "a backslash before a line break or tab"),
    ('{"a": “x\\\ny”}', TABLE, "a backslash before a line break or tab"),
    ('{"a": “x", "b": "y”}', TABLE, "a quote that may end a string or stand in it"),
    ('{“a”: “x", “b": "y”}', TABLE, "a quote that may end a string or stand in it"),
    ('{"a": [“x“, “y”]}', TABLE, "a quote that may end a string or stand in it"),
    ('<THINK>{"a": 1}', TABLE, "in a part for thinking"),
    ('{"a": 1}</Thinking>', TABLE, "in a part for thinking"),
    ('<Think >maybe</THINK> so <REASONING>{"a": 1}', TABLE, "in a part for thinking"),
    ('<thought>{"a": 1}</thought> Hm.', TABLE, "is not JSON"),
    ('<analysis>{"a": 1}', TABLE, "in a part for thinking"),
    ("yes", typed(TEXT, BOOLEAN), "it may be a text, or another value"),
    ("True", typed(TEXT, BOOLEAN), "it may be a text, or another value"),
    ("None", typed(TEXT, {"type": "null"}), "it may be a text, or another value"),
    ("+5", typed(TEXT, {"type": "number"}), "it may be a text, or another value"),
    ("Bug", typed(TEXT, {"enum": ["bug"]}), "it may be a text, or another value"),
    ('Use {"a": 1}.', typed(TEXT, {"type": "object"}), "it may be a text, or another value"),
    ('{"a": [1, 2, /* and so on */]}', TABLE, "a comment may stand for what is left out"),
    ('{"a": 1,\n// as above\n}', TABLE, "a comment may stand for what is left out"),
    ('{"a": [/* none yet */]}', TABLE, "a comment may stand for what is left out"),
    ('{"a": [1, 2 // etc\n]}', TABLE, "a comment may stand for what is left out"),
    ('No: ~~{"a": 1}~~', TABLE, "may be a part of it"),
    ('/* {"a": 1} */', TABLE, "may be a part of it"),
    ('// {"a": 1}', TABLE, "may be a part of it"),
    ('a = {"c": 1}, b = 2', TABLE, "may be a part of it"),
    ('[answer {"c": 1}]', TABLE, "may be a part of it"),
    ("Use {} to clear it", TABLE, "may be a part of it"),
    ("As said in [1], there are none.", OutputFormat("json", "array"), "may be a part of it"),
    ("- [ ] to do", OutputFormat("json", "array"), "may be a part of it"),
    (".", OutputFormat("json", {"enum": ["!", "?"]}, typed=True), "is not JSON"),
    ("A.", OutputFormat("json", {"enum": ["a.", "a"]}, typed=True), "is not JSON"),
    ("Yes?", OutputFormat("json", BOOLEAN, typed=True), "is not JSON"),
    ("!true", OutputFormat("json", BOOLEAN, typed=True), "is not JSON"),
    ('"no?"', OutputFormat("json", BOOLEAN, typed=True), "expected boolean"),
    ("bug?", OutputFormat("json", {"enum": ["bug", "wish"]}, typed=True), "is not JSON"),
]


@pytest.mark.parametrize(("text", "form", "words"), ASKED_AGAIN)
def test_what_has_two_readings_is_asked_again(text, form, words):
    """Each was answered with one of them."""
    assert words in (read_reply(text, form).problem or "")


def test_a_document_that_is_struck_out_is_asked_again():
    """As JSON is."""
    xsd = (
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">'
        '<xs:element name="count" type="xs:int"/></xs:schema>'
    )
    reading = read_reply("~~<count>7</count>~~", OutputFormat("xml", xsd))

    assert "<count> may be struck out" in (reading.problem or "")


ONE_READING = [
    ('{"a": "x\\\\\ny"}', TABLE, {"a": "x\\\ny"}),
    ('{"a": “x, y”}', TABLE, {"a": "x, y"}),
    ('{"a": “say "hi" to me”}', TABLE, {"a": 'say "hi" to me'}),
    ('<THINK>[{"b": 2}]?</think> {"a": 1}', TABLE, {"a": 1}),
    ('{"a": 1, // one\n"b": 2 /* two */}', TABLE, {"a": 1, "b": 2}),
    ("a.", OutputFormat("json", {"enum": ["a.", "a"]}, typed=True), "a."),
    ('Sure: {"a": 1} it is.', TABLE, {"a": 1}),
    ("It is [1].\nThat is all.", OutputFormat("json", "array"), (1,)),
    ("yes", OutputFormat("json", BOOLEAN, typed=True), True),
    ("Nothing to say", typed(TEXT, BOOLEAN), "Nothing to say"),
    ("true", typed(TEXT, BOOLEAN), True),
    ('"yes"', typed(TEXT, BOOLEAN), "yes"),
    ("'yes'", typed(TEXT, BOOLEAN), "yes"),
    ("```json\ntrue\n```", typed(TEXT, BOOLEAN), True),
    ("bug", typed(TEXT, {"enum": ["bug"]}), "bug"),
    ("**Bug**!", OutputFormat("json", {"enum": ["bug", "wish"]}, typed=True), "bug"),
]


@pytest.mark.parametrize(("text", "form", "value"), ONE_READING)
def test_what_has_one_reading_is_read(text, form, value):
    """As before."""
    reading = read_reply(text, form)

    assert (reading.problem, reading.value) == (None, value)
