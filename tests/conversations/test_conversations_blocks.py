"""Images and documents of tools and of calls, as a server of models has them."""

import base64
import json
import sys
from pathlib import Path

import pytest
from support.pictures import PAPER, PICTURE
from support.serving import run_served

import sexplang

SERVER = Path(__file__).parents[1] / "support" / "mcp_server.py"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
LOOK = '(defatom t (instructions "Look.") (allowed_tools look)) (call-task t)'


def uses(name, given=None):
    """The model calls a tool."""
    return [{"type": "tool_use", "id": "t0", "name": name, "input": given or {}}]


def content_of(body):
    """What the last message of a request gives for its one call."""
    (block,) = body["messages"][-1]["content"]
    return block["content"]


@pytest.mark.parametrize("given", [IMAGE, [IMAGE], [{"type": "text", "text": "Here:"}, IMAGE]])
def test_blocks_of_a_tool_stay_blocks(given):
    def look():
        """Looks."""
        return given

    _, journal = run_served(LOOK, uses("look"), "done", tools=[look])

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

    _, journal = run_served(LOOK, uses("look"), "done", tools=[look])

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

    _, journal = run_served(LOOK, uses("look"), "done", tools=[look])

    left_out, kept = content_of(journal[1])
    assert left_out["type"] == "text"
    assert why in left_out["text"]
    assert kept == IMAGE


def test_no_more_images_than_a_bound():
    def look():
        """Looks."""
        return [IMAGE] * 25

    _, journal = run_served(LOOK, uses("look"), "done", tools=[look])

    kinds = [block["type"] for block in content_of(journal[1])]
    assert kinds == ["image"] * 20 + ["text"] * 5


def test_an_image_takes_its_tokens_and_not_those_of_its_bytes():
    large = base64.b64encode(base64.b64decode(PICTURE) + bytes(1_500_000)).decode()

    def look():
        """Looks."""
        return source("image/png", large)

    value, journal = run_served(LOOK, uses("look"), "done", tools=[look])

    assert content_of(journal[1])[0]["source"]["data"] == large
    assert value.notes["metrics"]["context"]["peak_usage"] < 3_000
    assert value.notes["warnings"] == []


def test_blocks_of_a_server_of_tools_stay_blocks():
    program = """(defatom t (instructions "Look.") (allowed_tools pics:show pics:hand_over))
                 (call-task t)"""
    calls = [*uses("pics_show"), {**uses("pics_hand_over")[0], "id": "t1"}]

    _, journal = run_served(
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


DESCRIBE = """
(defatom describe (params (photo image doc: "what to look at") (notes file default: nil))
  (instructions "What is on {{photo}}?"))
"""


@pytest.fixture
def folder(tmp_path):
    """A picture and a text, beside a program."""
    (tmp_path / "cup.png").write_bytes(base64.b64decode(PICTURE))
    (tmp_path / "notes.md").write_text("It is blue.")
    (tmp_path / "liar.png").write_text("no picture")
    (tmp_path / "raw.bin").write_bytes(bytes([0, 1]))

    def in_folder(program, *script):
        file = tmp_path / "main.sexp"
        file.write_text(DESCRIBE + program)
        return run_served(file, *script)

    return in_folder


def test_a_parameter_is_a_picture_and_another_a_file(folder):
    _, (body,) = folder('(describe "cup.png" notes: "notes.md")', "done")

    label, picture, prompt = body["messages"][0]["content"]
    assert (label["text"], prompt["text"]) == ("File cup.png:", "What is on cup.png?")
    assert picture["source"] == IMAGE["source"]
    assert "It is blue." in json.dumps(body["system"])
    assert PICTURE not in json.dumps([label, prompt, body["system"]])


def test_a_model_gives_a_picture_by_its_path(folder):
    program = '(defatom t (instructions "Go.") (allowed_tools describe)) (t)'
    calls = [
        {**uses("describe", {"photo": name})[0], "id": f"t{at}"}
        for at, name in enumerate(["cup.png", "notes.md", "liar.png", "none.png", "/etc/x.png"])
    ]

    _, journal = folder(program, calls, "a cup", "done")

    photo = journal[0]["tools"][0]["input_schema"]["properties"]["photo"]
    assert photo == {"type": "string", "description": "what to look at"}
    told = [block["content"] for block in journal[-1]["messages"][-1]["content"]]
    assert told[0] == "a cup"
    reasons = [json.loads(each)["reason"] for each in told[1:]]
    assert reasons[:2] == ["input_validation_failure"] * 2
    assert reasons[3] == "path-denied"
    assert len(journal) == 3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ('(describe "notes.md")', "not the path of an image"),
        ('(describe "liar.png")', "it is not image/png, whatever its name says"),
        ('(describe "cup.png" notes: "raw.bin")', "it is binary, and no text"),
        ('(describe {type: "image" source: {type: "base64"}})', "not the path of an image"),
        ("(describe 5)", "`photo` is integer"),
    ],
)
def test_what_is_no_picture_fails_the_task(folder, call, words):
    value, journal = folder(f"(try {call} (catch (err input_validation_failure) err.message))")

    assert words in value
    assert journal == []


def test_a_picture_that_a_host_refuses_ends_the_run(folder):
    with pytest.raises(sexplang.Failed) as failed:
        folder('(describe "/etc/x.png")')

    assert failed.value.error.fields["reason"] == "path-denied"
