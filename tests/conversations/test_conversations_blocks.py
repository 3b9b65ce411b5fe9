"""Images and documents of tools and of calls, as a server of models has them."""

import base64
import json
import sys
from pathlib import Path

import pytest
from support.mcp_server import PAPER, PICTURE
from support.messages_server import MessagesServer

import sexplang

SERVER = Path(__file__).parents[1] / "support" / "mcp_server.py"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
LOOK = '(defatom t (instructions "Look.") (allowed_tools look)) (call-task t)'


def uses(name, given=None):
    """The model calls a tool."""
    return [{"type": "tool_use", "id": "t0", "name": name, "input": given or {}}]


def run(program, *script, **options):
    """The value of a program, and what the server was sent."""
    with MessagesServer(*script) as server:
        value = sexplang.run(program, model=server.url, **options)
    return value, server.journal


def content_of(body):
    """What the last message of a request gives for its one call."""
    (block,) = body["messages"][-1]["content"]
    return block["content"]


@pytest.mark.parametrize("given", [IMAGE, [IMAGE], [{"type": "text", "text": "Here:"}, IMAGE]])
def test_blocks_of_a_tool_stay_blocks(given):
    def look():
        """Looks."""
        return given

    _, journal = run(LOOK, uses("look"), "done", tools=[look])

    assert content_of(journal[1]) == (given if isinstance(given, list) else [given])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([{"type": "text", "text": "tea"}], '[{"type": "text", "text": "tea"}]'),
        ({"type": "image"}, '{"type": "image"}'),
        ([IMAGE, "tea"], None),
        ({"type": "image", "source": {"type": "url", "url": "http://a.b"}}, None),
    ],
)
def test_what_is_no_list_of_blocks_with_an_image_is_text(given, told):
    def look():
        """Looks."""
        return given

    _, journal = run(LOOK, uses("look"), "done", tools=[look])

    assert content_of(journal[1]) == (told or json.dumps(given))


def source(media_type, data):
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


@pytest.mark.parametrize(
    ("block", "why"),
    [
        (source("image/jpeg", PICTURE), "it is not image/jpeg, whatever it says"),
        (source("image/bmp", PICTURE), "`image/bmp` is none of image/png"),
        (source("application/pdf", PAPER), "`application/pdf` is none of"),
        (source("image/png", PICTURE + "A" * 5_000_000), "more than 5,000,000 characters"),
    ],
)
def test_an_image_that_no_provider_takes_is_left_out(block, why):
    def look():
        """Looks."""
        return [block, IMAGE]

    _, journal = run(LOOK, uses("look"), "done", tools=[look])

    left_out, kept = content_of(journal[1])
    assert left_out["type"] == "text"
    assert why in left_out["text"]
    assert kept == IMAGE


def test_no_more_images_than_a_bound():
    def look():
        """Looks."""
        return [IMAGE] * 25

    _, journal = run(LOOK, uses("look"), "done", tools=[look])

    kinds = [block["type"] for block in content_of(journal[1])]
    assert kinds == ["image"] * 20 + ["text"] * 5


def test_an_image_takes_its_tokens_and_not_those_of_its_bytes():
    large = base64.b64encode(base64.b64decode(PICTURE) + bytes(1_500_000)).decode()

    def look():
        """Looks."""
        return source("image/png", large)

    value, journal = run(LOOK, uses("look"), "done", tools=[look])

    assert content_of(journal[1])[0]["source"]["data"] == large
    assert value.notes["metrics"]["context"]["peak_usage"] < 3_000
    assert value.notes["warnings"] == []


def test_blocks_of_a_server_of_tools_stay_blocks():
    program = """(defatom t (instructions "Look.") (allowed_tools pics:show pics:hand_over))
                 (call-task t)"""
    calls = [*uses("pics_show"), {**uses("pics_hand_over")[0], "id": "t1"}]

    _, journal = run(
        program,
        calls,
        "done",
        mcp={"pics": f"{sys.executable} {SERVER}"},
        permissions=sexplang.Permissions(run=(sys.executable,)),
    )

    shown, handed = [block["content"] for block in journal[1]["messages"][-1]["content"]]
    assert shown == [{"type": "text", "text": "a picture"}, IMAGE]
    assert handed[0]["source"]["data"] == PAPER
    assert [block["type"] for block in handed] == ["document", "text", "text", "text", "text"]
