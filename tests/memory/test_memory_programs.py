"""Programs that search: `search-memory`, `get-context`, matchers; and their hosts."""

import json
import os
import subprocess
import sys

import pytest
from memory_support import FILES, filled, indexed
from support.markdown import ROOT
from support.sources import no_files

import sexplang
from sexplang.pipeline.pipeline import build
from sexplang.runtime import Settings, performers
from sexplang.terms.effect import Request
from sexplang.terms.source import Source

PATHS = '(map (lambda (m) m.source_path) (get (get-context {}) "matches"))'
PICK = """
(defatom pick (subtype "associative_matching") (params (input object) (candidates list))
  (instructions "Which files are about {{input.query}}? {{candidates}}"))
"""


@pytest.fixture
def shop(tmp_path):
    """A project with an index."""
    folder = filled(tmp_path / "shop")
    indexed(folder)
    return folder


def run(folder, text, **options):
    """What a program in a folder gives."""
    program = folder / "main.sexp"
    program.write_text(text)
    return sexplang.run(program, **options)


def answering(*replies):
    """A search that gives these replies, and what it was asked."""
    asked, left = [], list(replies)

    def search(query):
        asked.append(query)
        return left.pop(0) if len(left) > 1 else left[0]

    return asked, search


def candidates(count, size=100):
    """A reply with so many matches."""
    rows = [
        {"id": f"{n}.md", "source_path": f"{n}.md", "content": "x" * size, "relevance_score": 0.0}
        for n in range(count)
    ]
    return {"summary": "", "matches": rows, "error": None}


def matched(matcher, reply=None, **options):
    """What a matcher makes of some candidates."""
    _, search = answering(reply or candidates(3))
    text = f'(get-context "tea" matcher: (lambda (input candidates) {matcher}))'
    return sexplang.run(text, effects={"search-memory": search}, **options)


def scores(result):
    assert result["error"] is None, result["error"]
    return [(match["source_path"], match["relevance_score"]) for match in result["matches"]]


# -- search-memory and get-context


def test_a_program_searches_the_index_of_its_project(shop):
    """Found upward from its folder; a match's path is one that `read-file` takes."""
    first = '(get (first (get (search-memory "green") "matches")) "source_path")'

    assert FILES["docs/tea.md"] == run(shop, f"(read-file {first})")
    assert ["docs/tea.md"] == run(shop, PATHS.format('query: "green"'))
    assert ["tea.md"] == run(shop / "docs", PATHS.format('"green"'))


def test_without_an_index_nothing_is_found(tmp_path):
    """That is no error."""
    reply = run(tmp_path, '(get-context "tea")')

    assert ([], None) == (reply["matches"], reply["error"])


def test_an_index_may_be_named(shop, tmp_path):
    """A Memory, or its file; a text reads what it is given."""
    memory = sexplang.Memory(shop / ".sexplang/index.db")
    elsewhere = filled(tmp_path / "else", {})
    elsewhere.mkdir()
    rights = sexplang.Permissions(read=[shop])
    for given in (memory, os.fspath(memory)):
        assert [] == run(elsewhere, PATHS.format('"green"'), memory=given)
        found = run(elsewhere, PATHS.format('"green"'), memory=given, permissions=rights)
        assert [str(shop / "docs/tea.md")] == found
        assert found == sexplang.run(PATHS.format('"green"'), memory=given, permissions=rights)
        assert [] == sexplang.run(PATHS.format('"green"'), memory=given)


def test_an_index_that_cannot_be_used_is_told_as_data(shop):
    """After it was tried twice."""
    (shop / ".sexplang/index.db").write_text("nonsense")
    error = run(shop, '(get-context "tea")')["error"]

    assert ("TASK_FAILURE", "context_retrieval_failure") == (error["type"], error["reason"])
    assert "bad-index" == error["details"]["code"]


def test_what_is_asked_is_what_was_given():
    """Fields that are nil are left out; pairs are a table; the strategy may be a symbol."""
    asked, search = answering({"summary": "", "matches": [], "error": None})
    sexplang.run(
        """(get-context query: "tea" template_description: "Brew." inputs: '((cups 2) (hot true))
             inherited_context: [{source: "a" text: "b"}] previous_outputs: ["c"]
             template_type: "atomic" template_subtype: "standard"
             matching_strategy: 'metadata limit: 3)
           (get_context "tea")""",
        effects={"search-memory": search},
    )

    assert asked == [
        {
            "query": "tea",
            "template_description": "Brew.",
            "template_type": "atomic",
            "template_subtype": "standard",
            "inputs": {"cups": 2, "hot": True},
            "inherited_context": [{"source": "a", "text": "b"}],
            "previous_outputs": ["c"],
            "matching_strategy": "metadata",
            "limit": 3,
        },
        {"query": "tea"},
    ]


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ('matching_strategy: "both"', '"content" or "metadata"'),
        ("matching_strategy: 3", '"content" or "metadata"'),
        ('matcher: "pick"', "a matcher is a task or a function"),
        ("inputs: '((cups 2) (cups 3))", "the input `cups` is given twice"),
        ('inputs: \'((cups 2) ("cups" 2))', "the input `cups` is given twice"),
    ],
)
def test_misuse_of_get_context_is_raised(labels, says):
    """It is the caller's, and nothing is asked."""
    with pytest.raises(sexplang.Failed, match=says) as failed:
        sexplang.run(f'(get-context "tea" {labels})')

    assert "wrong-type" == failed.value.reason


def test_one_performer_serves_every_kind_of_request(shop):
    """It is one of the host's, and it never waits."""
    table = performers(Settings(run_id="x", permissions=sexplang.Permissions(folder=shop)))
    reply = table["search-memory"](Request("0.0", "search-memory", ({"query": "green"},)))

    assert ["docs/tea.md"] == [match["id"] for match in reply["matches"]]


# -- Matchers


def test_a_matcher_chooses(shop):
    """It gets the query and every candidate's metadata, those that have its words first."""
    text = """
        (get-context template_description: "green" matcher: (lambda (input candidates)
          (log "info" (str input " " (length candidates)))
          {summary: "chosen"
           matches: [{path: (get-in candidates [1 "path"]) relevance_score: 0.4}
                     {path: (get-in candidates [0 "path"]) relevance_score: 0.7}]}))
    """
    result = run(shop, text)

    assert [("docs/tea.md", 0.7), ("docs/coffee.md", 0.4)] == scores(result)
    assert "chosen" == result["summary"]
    assert result["matches"][0]["content"].startswith("File: docs/tea.md")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('["1.md" "0.md"]', [("0.md", 0.5), ("1.md", 0.5)]),
        ('[{path: "1.md"} {source_path: "0.md" score: 0.9}]', [("0.md", 0.9), ("1.md", 0.5)]),
        ('[{id: "2.md" relevance_score: 7} {path: "1.md" relevance_score: -1}]',
         [("2.md", 1), ("1.md", 0)]),
        ('["2.md" {path: "1.md" score: (/ 0.0 0.0)} {path: "0.md" score: (/ 1.0 0.0)}]',
         [("0.md", 1), ("2.md", 0.5), ("1.md", 0)]),
        ('[{path: "1.md" score: (/ -1.0 0.0)}]', [("1.md", 0)]),
        ('[{path: "1.md" relevance_score: "high"} {path: "1.md" relevance_score: 0.6}]',
         [("1.md", 0.6)]),
        ('[{path: "1.md" relevance_score: "0.9"} {path: "0.md" score: " 7e-1 "}]',
         [("1.md", 0.9), ("0.md", 0.7)]),
        ('[{path: "1.md" score: "1e999999999999"} {path: "0.md" score: ""}]',
         [("0.md", 0.5), ("1.md", 0.5)]),
        ('["made-up.md" "x/1.md" {path: nil} 3 {}]', []),
        ('"[\\"1.md\\"]"', [("1.md", 0.5)]),
        ('"Here:\\n```json\\n{\\"matches\\": []}\\n```"', None),
        ('"```json\\n{\\"matches\\": [{\\"path\\": \\"1.md\\", \\"relevance_score\\": 1}]}\\n```"',
         [("1.md", 1)]),
        ("[]", []),
    ],
)  # fmt: skip
def test_what_a_matcher_gives_is_read_with_patience(reply, expected):
    """Fences go, a missing score is 0.5, scores are clamped, each path once, none made up."""
    result = matched(reply)

    if expected is None:
        assert "context_matching_failure" == result["error"]["reason"]
    else:
        assert expected == scores(result)


def test_a_limit_holds_for_a_matcher_too():
    """The limit of the query, else ten, or five by metadata."""
    search = answering(candidates(30))[1]
    for labels, count in (("limit: 3", 3), ("", 10), ("matching_strategy: 'metadata", 5)):
        text = f'(get-context "x" {labels} matcher: (lambda (i cs) (map (lambda (c) c.path) cs)))'
        assert count == len(sexplang.run(text, effects={"search-memory": search})["matches"])


@pytest.mark.parametrize("limit", ["0", "-1", "2.0", "true", "5000", '"3"'])
def test_a_limit_that_is_none_is_told_alike_with_a_matcher_and_without(shop, limit):
    """In the reply, as the search tells it."""
    for matcher in ("false", "(lambda (input candidates) candidates)"):
        result = run(shop, f'(get-context "green" limit: {limit} matcher: {matcher})')

        assert "context_parsing_failure" == result["error"]["reason"]


def shards(reply, **options):
    """The paths that each call of a matcher was given."""
    calls = []

    def look(paths):
        calls.append(paths)
        return []

    search = answering(reply)[1]
    labels = " ".join(f"{name}: {value}" for name, value in options.items())
    text = f"""
        (import std/memory)
        (match-memory (lambda (input cs) (look (map (lambda (c) c.path) cs))) "tea" {labels})
    """
    sexplang.run(text, effects={"search-memory": search, "look": look})
    return calls


def test_candidates_are_sharded():
    """4,000 tokens each, a quarter of a token for a character, the least load first, at most 8."""
    few = shards(candidates(3))
    assert [["0.md", "1.md", "2.md"]] == few

    calls = shards(candidates(100, size=1595))  # 400 tokens each
    assert 8 == len(calls)
    assert {10} == {len(paths) for paths in calls}
    assert [f"{n}.md" for n in range(80)] == sorted(
        (path for paths in calls for path in paths), key=lambda path: int(path[:-3])
    )

    calls = shards(candidates(10, size=390), token_size_per_shard=200, max_shards=3)
    assert [2, 2, 2] == [len(paths) for paths in calls]


def test_loads_are_balanced():
    """A large candidate does not share with as many as a small one; one too large is left out."""
    reply = candidates(8, size=3995)
    reply["matches"][0]["content"] = "x" * 11_995
    reply["matches"][1]["content"] = "x" * 40_000
    calls = shards(reply)

    assert [["0.md", "2.md"], ["3.md", "4.md", "5.md", "6.md"], ["7.md"]] == sorted(calls)


def matched_by(labels, reply):
    """What `match-memory` says of a reply, when each file of a shard is chosen."""
    text = f"""
        (import std/memory)
        (match-memory (lambda (input cs) (map (lambda (c) c.path) cs)) "tea" {labels})
    """
    return sexplang.run(text, effects={"search-memory": answering(reply)[1]})


@pytest.mark.parametrize(
    ("count", "labels", "says"),
    [
        (8, "", ""),
        (60, "token_size_per_shard: 500 max_shards: 2", "50 of 60 files were not judged"),
        (3, "token_size_per_shard: 1", "3 of 3 files were not judged: the shards had no room"),
        (1000, "", "no more than 1000 files of the index were looked at"),
    ],
)
def test_what_no_matcher_was_shown_is_said(count, labels, says):
    """In the summary: nobody takes silence for a judgement."""
    result = matched_by(labels, candidates(count, size=395))

    assert result["error"] is None
    assert (says in result["summary"]) if says else result["summary"] == ""


@pytest.mark.parametrize("name", ["token_size_per_shard", "max_shards"])
@pytest.mark.parametrize("value", ["0", "-1", "true", "1.5", '"3"', "nil", "4001"])
def test_bounds_of_shards_are_integers_in_their_range(name, value):
    """Nothing is asked before."""
    with pytest.raises(sexplang.Failed, match=f"`{name}:` is an integer from 1 to"):
        matched_by(f"{name}: {value}", candidates(1))


def test_a_shard_that_fails_does_not_spoil_the_others():
    """It is tried once more, and its failure is noted."""
    tries = {}

    def ask(path):
        tries[path] = tries.get(path, 0) + 1
        if path == "0.md" or (path == "1.md" and tries[path] == 1):
            raise sexplang.error("busy", "no time")
        return [path]

    text = """
        (import std/memory)
        (match-memory (lambda (input cs) (ask (get-in cs [0 "path"]))) "tea"
          token_size_per_shard: 30)
    """
    search = answering(candidates(3))[1]
    result = sexplang.run(text, effects={"search-memory": search, "ask": ask})

    assert [("1.md", 0.5), ("2.md", 0.5)] == scores(result)
    assert "a part of the files could not be matched: no time" == result["summary"]
    assert {"0.md": 2, "1.md": 2, "2.md": 1} == tries


def test_when_all_shards_fail_the_reply_says_why():
    """It is no exception."""
    result = matched('(error "no time")')

    assert ([], "context_matching_failure") == (result["matches"], result["error"]["reason"])
    assert "nothing could be matched: no time" == result["error"]["message"]
    assert "no time" == result["error"]["details"]["error"]["message"]


def test_what_the_search_itself_says_goes_on():
    """Nothing to match, or an index that cannot be used."""
    error = {"type": "TASK_FAILURE", "reason": "context_retrieval_failure", "message": "no"}
    for reply in (
        {"summary": "none", "matches": [], "error": None},
        {"summary": "", "matches": [], "error": error},
    ):
        assert reply == matched('(error "not asked")', reply)


def test_a_task_of_the_program_may_be_the_matcher(shop):
    """One of the subtype `associative_matching` is, unless another or none is chosen."""
    prompts = []

    def model(payload):
        prompts.append(payload["messages"][-1]["content"][0]["text"])
        return json.dumps({"matches": [{"path": "docs/coffee.md", "relevance_score": 0.8}]})

    def asked(labels):
        return scores(run(shop, f'{PICK} (get-context "green" {labels})', model=model))

    assert [("docs/coffee.md", 0.8)] == asked("") == asked("matcher: pick")
    assert "Which files are about green?" in prompts[0]
    assert "Filename: kettle.py" in prompts[0]
    assert [("docs/tea.md", 1.0)] == asked("matcher: false")
    assert [("settings.toml", 0.5)] == asked('matcher: (lambda (input cs) ["settings.toml"])')
    assert 2 == len(prompts)


def test_two_tasks_of_that_subtype_are_none(shop):
    """One of them would have to be named."""
    text = PICK + PICK.replace("pick", "choose") + '(get-context "green")'

    assert [("docs/tea.md", 1.0)] == scores(run(shop, text, model=["not asked"]))


def test_the_matcher_of_the_library_asks_a_model(shop):
    """`pick-files`, for whoever has none of their own."""
    replies = ['{"matches": [{"path": "src/cup.py", "relevance_score": 0.9}], "summary": "Cups."}']
    result = run(shop, '(import std/matching) (get-context "mugs")', model=replies)

    assert [("src/cup.py", 0.9)] == scores(result)
    assert "Cups." == result["summary"]


def test_fresh_context_may_be_matched_too(shop):
    """`with-matcher` answers `search-memory` in whatever it calls, branches as well."""
    text = """
        (import std/memory)
        (map (lambda (reply) (map (lambda (m) m.source_path) reply.matches))
             (with-matcher (lambda (input cs) [(get-in cs [1 "path"])])
               (lambda () (par (search-memory "green") (search-memory {query: "milk" limit: 1})))))
    """
    assert [["docs/coffee.md"], ["docs/tea.md"]] == run(shop, text)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('(get-context "tea")', "0"),
        (PICK + '(get-context "tea")', "16"),
    ],
)
def test_how_often_a_model_may_be_asked_is_known(text, calls):
    """Eight shards, each tried twice."""
    program = build(Source("a", text), no_files)

    from sexplang.pipeline.pipeline import inspect

    assert calls == str(inspect(program).calls)


def test_sqlite_is_loaded_by_who_searches(shop):
    """And nothing else of the index by a program that does not; nor what reads ignore rules."""
    text = """
import sys
from sexplang.hosts import main
main(["run", "-e", sys.argv[1]])
names = ("sqlite3", "sexplang.runtime.memory", "sexplang.runtime.memory.scan.globs")
print([name for name in names if name in sys.modules])
"""

    def loaded(program):
        done = subprocess.run(
            [sys.executable, "-c", text, program],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        return done.stdout.splitlines()[-1]

    assert "[]" == loaded('(log "info" "x")')
    assert "sqlite3" in loaded('(search-memory "x")')
    assert "globs" not in loaded('(search-memory "x")')


def test_a_session_at_the_prompt_searches_as_well(shop):
    """Its index is that of the folder of the file that was loaded, or the one that is named."""
    words = [sys.executable, "-m", "sexplang", "repl"]
    done = subprocess.run(
        [*words, "--index", str(shop / ".sexplang/index.db"), "--allow-read", str(shop)],
        input=PATHS.format('"green"'),
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    assert json.dumps([str(shop / "docs/tea.md")]) == done.stdout.strip()


OPERATIONS = (
    *("print", "log", "progress", "now", "random", "ask-user", "read-file", "write-file"),
    *("list-files", "run-script", "search-memory", "tool", "model", "subtask", "subplan"),
)
GIVEN = (
    *("", "nil", "nil nil nil", "1", "-1.5", "(/ 0.0 0.0)", "true", "[]", "{}", "'a", '""'),
    *('"x"', '"x" 1', '"x" nil 1', '"x" {}', '"x" [1]', "[1] {}", "{a: 1} nil", "nil nil 1"),
)


@pytest.mark.parametrize("operation", [*OPERATIONS, "sleep"])
def test_no_operation_of_the_host_is_at_a_loss(shop, operation):
    """Whatever it is given, it answers or says what it takes; never in Python's words."""
    allowed = sexplang.Permissions(folder=shop, read=[shop], write=[shop], run=["true"])
    for given in GIVEN:
        if (operation, given[:1]) == ("sleep", "1"):
            continue
        try:
            sexplang.run(
                f"({operation} {given})",
                permissions=allowed,
                memory=sexplang.Memory(str(shop / ".sexplang" / "index.db")),
            )
        except sexplang.Failed as failed:
            assert failed.reason != "unexpected_error", (operation, given, str(failed))
            assert "None" not in str(failed) and "Error:" not in str(failed), (operation, given)
        except sexplang.Diagnostics:
            pass
