"""Tasks whose reply is XML: what the model is told, when it is asked again, what comes out."""

import pytest
from attrs import evolve
from tasks_driver import converse, says, template

from sexplang.terms.template import OutputFormat

XML = OutputFormat(
    "xml",
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">'
    '<xs:element name="count" type="xs:int"/></xs:schema>',
)
TASK = template(output_format=XML)


def spoken(run):
    """The text of a result, and what was read of it."""
    return run.result.fields["content"], run.result.fields["parsed_content"]


def test_a_model_is_told_the_form_and_its_reply_is_data():
    """In words, as no server enforces an XSD."""
    run = converse(TASK, [says("```xml\n<count>3</count>\n```")])

    assert "<count>whole number</count>" in run.requests[0]["system"]
    assert "output_schema" not in run.requests[0]
    assert run.result.fields["parsed_content"] == 3
    assert run.result.fields["content"] == "```xml\n<count>3</count>\n```"
    assert run.result.fields["notes"]["repairs"] == ("took the XML out of its code fence",)


def test_a_reply_that_does_not_fit_is_asked_for_again_twice():
    """Then it is an output_format_failure that says what was expected."""
    run = converse(TASK, [says("three"), says("<count>x</count>"), says("<count>3</count>")])
    error = converse(TASK, [says("a"), says("b"), says("<count>x</count>")]).error

    assert run.result.fields["parsed_content"] == 3
    assert len(run.requests) == 3
    assert error["reason"] == "output_format_failure"
    assert error["details"]["expectedType"] == "xml <count>"
    assert error["details"]["violations"] == ("count: not a whole number: 'x'",)


def test_manual_xml_leaves_the_reply_to_the_program():
    """The form is told, and nothing is read, repaired or asked again."""
    run = converse(evolve(TASK, manual_xml=True), [says("<count>three")])

    assert "<count>whole number</count>" in run.requests[0]["system"]
    assert (run.result.fields["content"], run.result.fields["parsed_content"]) == (
        "<count>three",
        None,
    )
    assert run.result.fields["notes"]["warnings"] == ()


def test_disable_reparsing_takes_what_cannot_be_read_as_text():
    """With a warning, after one question; what can be read is data."""
    once = evolve(TASK, disable_reparsing=True)
    run = converse(once, [says("about three")])

    assert (run.result.fields["content"], run.result.fields["parsed_content"]) == (
        "about three",
        None,
    )
    assert "taken as text: The reply is not the XML" in run.result.fields["notes"]["warnings"][0]
    assert converse(once, [says("<Count> 3 </Count>")]).result.fields["parsed_content"] == 3


@pytest.mark.parametrize("format_", [XML, OutputFormat("json", "object")], ids=["xml", "json"])
def test_what_a_request_expects_overrides_the_output_format(format_):
    """The task's own form is neither told nor sent nor asked for: the reply is text."""
    task = template(output_format=format_, system="Be terse.")
    run = converse(task, [says("three")], overrides={"return_expectations": "one word"})

    assert run.requests[0]["system"] == "Be terse.\n\n===\n\nForm of the answer: one word"
    assert "output_schema" not in run.requests[0]
    assert spoken(run) == ("three", None)
    assert "repairs" not in run.result.fields["notes"]
