"""What tools and effects say of their calls in doubt."""

import sys

import pytest
from support.command import served
from support.interrupted_runs import acting, interrupted, reason_of

import sexplang


def stopped_within_a_tool(store, name, program):
    """Run a program that is interrupted within a tool."""

    def stop(called, inputs):
        assert name == called
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sexplang.run(program, effects={"tool": stop}, store=store, run_id="r")


@pytest.mark.parametrize(
    ("declared", "decided", "ends"),
    [
        (None, {}, "in-doubt"),
        ("ask", {}, "in-doubt"),
        ("safe", {}, 20),
        ("never", {}, 7),
        ("safe", {"act": "ask"}, "in-doubt"),
        ("safe", {"*": "never"}, 7),
        ("never", {"0": "safe"}, 7),
        ("ask", {"1": "safe"}, 20),
    ],
)
def test_an_effect_says_what_becomes_of_it(tmp_path, declared, decided, ends):
    """A person's decision precedes that of the function."""
    store, program = tmp_path / "runs.db", "(act 1) (try (act 2) (catch (e in-doubt) 7))"
    interrupted(store, program)
    act = acting([])["act"]
    act = act if declared is None else sexplang.replay(declared)(act)
    given = {"store": store, "effects": {"act": act}, "replay": decided}
    if isinstance(ends, str):
        assert ends == reason_of(sexplang.resume, program, "r", **given)
    else:
        assert ends == sexplang.resume(program, "r", **given)


def test_a_tool_says_what_becomes_of_it(tmp_path):
    """A function says it by a decorator; tools may be given by an iterator."""
    store, program = tmp_path / "runs.db", '(tool \'echo {word: "a"})'
    stopped_within_a_tool(store, "echo", program)

    @sexplang.replay("safe")
    def echo(word: str) -> str:
        return word

    assert "a" == sexplang.resume(program, "r", store=store, tools=iter([echo]))


def test_the_tool_of_a_server_is_declared_in_its_table(tmp_path):
    store, program = tmp_path / "runs.db", '(tool "demo:add" {a: 1 b: 2})'
    stopped_within_a_tool(store, "demo:add", program)
    allowed = sexplang.Permissions(run=[sys.executable])
    command, *words = served()
    server = {"command": command, "args": words}
    given = {"store": store, "permissions": allowed}
    asked = {"demo": {**server, "replay": {"other": "safe"}}}
    assert "in-doubt" == reason_of(sexplang.resume, program, "r", mcp=asked, **given)
    safe = {"demo": {**server, "replay": {"add": "safe"}}}
    assert 3 == sexplang.resume(program, "r", mcp=safe, **given)["result"]


def test_a_decision_is_one_of_three_words(tmp_path):
    with pytest.raises(TypeError, match="decision is 'safe', 'ask' or 'never', not 'sometimes'"):
        sexplang.replay("sometimes")
    with pytest.raises(TypeError, match=r"replay\['act'\] is 'safe', 'ask' or 'never'"):
        sexplang.resume("1", "r", store=tmp_path / "runs.db", replay={"act": "twice"})
