"""What `raise` makes of a table: an error whose fields are what errors hold, with nothing lost."""

import pytest
from support.running import begun, error_of


@pytest.mark.parametrize(
    "raising", ["(raise {})", "(perform error {})", "(try (raise {}) (catch (e) (raise e)))"]
)
@pytest.mark.parametrize(
    "fields",
    [
        *('hint: ["a"]', "hint: car", "type: 5", "type: nil", "message: {a: 1}", "content: [1]"),
        *("details: 5", "details: [1 2]", "span: 5", 'span: {line: "a"}', "span: {}", "until: 9"),
        *('span: {source: "a" line: 1 column: 1 end_line: "b"}', 'span: {source: "a" line: 0}'),
    ],
)
@pytest.mark.parametrize("reason", ['"r"', "nil", '""', "[1]", "'word"])
def test_the_fields_of_an_error_are_what_errors_hold(raising, fields, reason):
    """Whatever a program writes into them."""
    found = error_of(begun(raising.replace("{}", f"{{reason: {reason} {fields}}}")))

    assert all(found[name] and isinstance(found[name], str) for name in ("type", "reason"))
    assert isinstance(found["message"], str) and isinstance(found["details"], dict)
    assert found["hint"] is None or isinstance(found["hint"], str)
    assert found["span"]["source"] and type(found["span"]["line"]) is int


def test_an_error_that_was_changed_keeps_the_rest():
    """`put` makes a table of it, and `raise` an error of that."""
    found = error_of(begun('(try (car []) (catch (e) (raise (put e "until" 9))))'))

    assert found["reason"] == "empty-list" and found["type"] == "PROGRAM_ERROR"
    assert found["details"] == {"until": 9} and found["hint"] is not None
