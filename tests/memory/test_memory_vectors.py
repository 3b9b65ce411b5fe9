"""Vectors of files: what is embedded, when, and how they join with words in a ranking."""

import json
import sqlite3
from contextlib import closing

import pytest
from memory_support import filled, found, indexed
from support.command import sexplang as command

import sexplang
from sexplang.runtime.memory.store import VERSION
from sexplang.runtime.memory.vectors import embed_files, rank_by_vector

FILES = {
    "cat.md": "# Cat\n\nSleeps.\n",
    "hot.md": "# Kettle\n\nBoils water.\n",
    "tea.md": "# Green tea\n\nHow it is brewed.\n",
}
PYTHON = '"""Pours."""\n\n\ndef pour(): pass\n\n\nclass Cup: pass\n\n\nprint("hot")\n'
MEANINGS = {"cat.md": [0.0, 1.0], "hot.md": [1.0, 0.1], "tea.md": [1.0, 0.0]}


def meant(texts):
    """Vectors by the names of the files."""
    return [MEANINGS[text.partition("\n")[0]] for text in texts]


def embedded(folder):
    memory = indexed(filled(folder, FILES))
    memory.embed(meant, "m")
    return memory


def ranked(memory, query, folder):
    return found(memory, query, folder)


def test_what_is_kept_is_embedded_and_no_contents(tmp_path):
    """Once for each file; what has changed, and all of it for another model, again."""
    memory = indexed(filled(tmp_path, FILES | {"pot.py": PYTHON}))
    seen = []

    def embed(texts):
        seen.append(texts)
        return [[1.0]] * len(texts)

    assert 4 == memory.embed(embed, "m")
    assert 0 == memory.embed(embed, "m")
    assert "pot.py\nPours.\npour, Cup" == seen[0][2]
    (tmp_path / "cat.md").write_text("# Dog\n")
    memory.add(tmp_path)
    assert 1 == memory.embed(embed, "m")
    assert "cat.md\nDog\nDog" == seen[1][0]
    assert 4 == memory.embed(embed, "other")


def test_files_are_found_by_meaning_alone(tmp_path):
    """The most similar first, whatever words they have."""
    memory = embedded(tmp_path)
    reply = memory.search({"vector": (1, 0)})

    assert ["tea.md", "hot.md", "cat.md"] == ranked(memory, {"vector": (1, 0)}, tmp_path)
    scores = [match["relevance_score"] for match in reply["matches"]]
    assert [1.0, round(61 / 62, 4), round(61 / 63, 4)] == scores


def test_words_and_meaning_are_joined_by_places(tmp_path):
    """What stands high in both orders is first; a file without a vector is found by its words."""
    memory = embedded(tmp_path)
    both = {"query": "kettle cat", "vector": (1.0, 0.0)}
    places = dict.fromkeys(FILES, 0.0)
    for order in (ranked(memory, "kettle cat", tmp_path), ["tea.md", "hot.md", "cat.md"]):
        for place, name in enumerate(order, 1):
            places[name] += 1 / (60 + place)

    assert sorted(places, key=places.__getitem__, reverse=True) == ranked(memory, both, tmp_path)
    memory.update({str(tmp_path / "new.md"): "A porcelain cup."})
    asked = {"query": "porcelain", "vector": (1, 0)}
    assert ["new.md", "tea.md", "hot.md", "cat.md"] == ranked(memory, asked, tmp_path)


def test_without_vectors_words_rank_as_ever(tmp_path):
    memory = indexed(filled(tmp_path, FILES))

    assert ["tea.md"] == ranked(memory, {"query": "tea", "vector": (1, 0)}, tmp_path)
    assert [] == ranked(memory, {"vector": (1, 0)}, tmp_path)


@pytest.mark.parametrize(
    ("vector", "words"),
    [
        ((), "`vector` is a list"),
        ("tea", "`vector` is a list"),
        ((1, "a"), "`vector` is a list"),
        ((True,), "`vector` is a list"),
        ((float("nan"),), "`vector` is a list"),
        ((float("inf"),), "`vector` is a list"),
        ((10**400,), "`vector` is a list"),
        ((1.0,) * 16_385, "`vector` is a list"),
        (
            (1.0, 2.0, 3.0),
            "`vector` has 3 numbers, and those of the index have 2: make it by the model m",
        ),
    ],
    ids=lambda drawn: str(drawn)[:30],
)
def test_what_is_no_vector_of_the_index_is_told(tmp_path, vector, words):
    error = embedded(tmp_path).search({"vector": vector})["error"].fields

    assert "context_parsing_failure" == error["reason"]
    assert words in error["message"]


@pytest.mark.parametrize(
    "numbers",
    [b"abc", b"\xff" * 8, b"\x00" * (4 * 16_385), "text"],
    ids=lambda drawn: str(drawn)[:12],
)
def test_a_damaged_vector_is_told(tmp_path, numbers):
    """An index may come from anybody."""
    memory = embedded(tmp_path)
    with closing(sqlite3.connect(memory.index)) as connection, connection:
        connection.execute("update vectors set numbers = ?", (numbers,))
    error = memory.search({"vector": (1, 0)})["error"].fields

    assert ("context_retrieval_failure", "bad-index") == (error["reason"], error["details"]["code"])


def test_a_file_that_may_not_be_read_has_no_place_in_the_order(tmp_path):
    """Nor does a program learn of it by the scores of others."""
    memory = embedded(tmp_path)
    query = "(search-memory {vector: [1 0]})"
    text = f'(map (lambda (m) [m.id m.relevance_score]) (get {query} "matches"))'
    allowed = sexplang.Permissions(read=[str(tmp_path / "hot.md"), str(tmp_path / "cat.md")])
    told = sexplang.run(text, memory=memory.index, permissions=allowed)

    assert [1.0, round(61 / 62, 4)] == [score for _, score in told]
    assert ["hot.md", "cat.md"] == [path.rpartition("/")[2] for path, _ in told]


def test_an_index_of_the_version_before_has_no_vectors():
    """Where it may not be changed, it is not renewed either."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"pragma user_version = {VERSION - 1}")
        assert [] == rank_by_vector(connection, (1.0,), [1, 2])


def test_a_file_that_changes_meanwhile_gets_no_vector(tmp_path):
    memory = indexed(filled(tmp_path, FILES))

    def embed(texts):
        (tmp_path / "cat.md").write_text("# Dog\n")
        memory.add(tmp_path)
        return meant(texts)

    assert 3 == embed_files(memory.index, embed, "m")
    assert 1 == memory.embed(meant, "m")


def test_what_a_model_fails_with_leaves_the_files_indexed(tmp_path):
    memory = sexplang.Memory(tmp_path / "index.db")
    with pytest.raises(sexplang.Failed) as caught:
        memory.add(filled(tmp_path / "docs", FILES), embed=lambda texts: [[1.0]])

    assert "bad-reply" == caught.value.error.fields["details"]["code"]
    assert 3 == len(memory.entries())
    assert (
        3 == memory.add(tmp_path / "docs", embed=lambda texts: [[1.0] for _ in texts])["embedded"]
    )


def test_the_command_embeds_by_a_model(tmp_path):
    (tmp_path / "replies.json").write_text('[{"reply": {"embeddings": 64}}]')
    filled(tmp_path / "docs", FILES)
    words = ["index", "docs", "--index", "a.db", "--embed", "scripted:replies.json"]
    done = command(*words, cwd=tmp_path)
    again = command(*words, "--json", cwd=tmp_path)
    failed = command(*words[:-1], "nobody", cwd=tmp_path)

    assert "3 files embedded by scripted:replies.json" == done.stdout.splitlines()[-1], done.stderr
    assert 0 == json.loads(again.stdout)["embedded"]
    assert 1 == failed.returncode
    assert "`nobody` does not name a model" in failed.stderr


def test_get_context_takes_a_vector_and_a_matcher_does_not_see_it():
    """A model is not shown hundreds of numbers."""
    seen = []
    match = {"id": "a.md", "source_path": "a.md", "content": "tea", "relevance_score": 1.0}
    text = """
    (define (judge input candidates) (note (keys input)) candidates)
    (get-context query: "tea" vector: [1 0])
    (length (get (get-context query: "tea" vector: [1 0] matcher: judge) "matches"))"""
    asked = []

    def search(query):
        asked.append(query)
        return {"summary": "", "matches": [match], "error": None}

    effects = {"search-memory": search}
    result = sexplang.run(text, effects=effects, primitives={"note": seen.append})

    assert 1 == result
    assert [[1, 0], [1, 0]] == [query["vector"] for query in asked]
    assert "vector" not in seen[0]
