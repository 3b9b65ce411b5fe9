"""The twenty programs whose first requests are given to readers: each has one right answer."""

import json

import pytest

from benchmarks import catalogue
from sexplang.tasks.requests.catalogue import MOST_TOKENS

EXPECTED = json.loads((catalogue.REQUESTS / "expected.json").read_text())


@pytest.mark.parametrize("program", catalogue.PROGRAMS, ids=lambda program: program.stem)
def test_the_expected_task_is_offered_and_begins(program):
    """With its inputs; another task does not begin with them, where nobody names it."""
    sent = catalogue.first_request(program)
    expected = {"description": "what the letter asks for", **EXPECTED[program.stem]}
    tool = sent["tools"][0]

    assert f"\n- {expected['name']}(" in tool["description"]
    listed = catalogue.size(sent)[1]
    assert 0 < listed <= MOST_TOKENS
    plan = {"reason": "MissingInfo", "subtasks": [expected]}
    given = plan if tool["name"] == "propose_subplan" else expected
    call = {"name": tool["name"], "input": given}
    assert expected["name"] == catalogue.judged(program, call)[0]

    wrong = {**expected, "inputs": {"nothing": 1}}
    given = {**plan, "subtasks": [wrong]} if tool["name"] == "propose_subplan" else wrong
    task, said = catalogue.judged(program, {"name": tool["name"], "input": given})
    assert task is None and "`nothing`" in said


def test_what_is_printed_shows_no_answer():
    """Each has its own program and its own words."""
    sent = [catalogue.first_request(program) for program in catalogue.PROGRAMS]

    assert 20 == len(sent) == len(EXPECTED)
    assert 20 == len({json.dumps(each["tools"]) for each in sent})
    for each, program in zip(sent, catalogue.PROGRAMS, strict=True):
        words = json.dumps([each.get("system"), each["messages"]])
        assert EXPECTED[program.stem]["name"] not in words
