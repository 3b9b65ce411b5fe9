"""What a query finds and in which order; a query may be anything."""

import os
from unicodedata import category, normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_support import committed, filled, found, indexed, repository

from sexplang.runtime import Permissions
from sexplang.runtime.memory import MemorySystem
from sexplang.runtime.memory.query import terms
from sexplang.runtime.memory.search_performer import answer, search
from sexplang.runtime.refusal import refuse
from sexplang.terms.task import task_result
from sexplang.terms.texts.words import words
from sexplang.terms.values.value import symbol


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A repository and its index."""
    folder = repository(tmp_path_factory.mktemp("memory") / "shop")
    filled(
        folder,
        {
            "docs/日本語.md": "# 緑茶の淹れ方\n\nお湯を沸かす。\n",
            "docs/über.md": "# Überprüfung der Größe\n\nNaïve Façade, ＷＩＤＥ.\n",
            "src/parse_header.py": '"""Reads headers."""\n\n\ndef parseHTTPHeader2(text): ...\n',
        },
    )
    committed(folder, person="Grace Moss", date="2026-03-04T05:06:07+00:00")
    return folder, indexed(folder)


def error(memory, query):
    fields = memory.search(query)["error"].fields
    return fields["type"], fields["reason"], fields["message"]


def test_a_match_says_what_it_is(shop):
    """id content relevance_score content_type source_path metadata."""
    folder, memory = shop
    reply = memory.search("kettle")
    (match,) = reply["matches"]
    path = str(folder / "src/kettle.py")

    assert {"summary": f"1 match: {path}", "matches": [match], "error": None} == reply
    assert (path, path) == (match["id"], match["source_path"])
    assert ("file_summary", 1.0) == (match["content_type"], match["relevance_score"])
    assert match["content"].startswith(f"File: {path}\nFilename: kettle.py\nExtension: py\nSize: ")
    assert "\nAuthor: Ada Bell\nDate: 2026-01-02T03:04:05+00:00" in match["content"]
    assert ["Kettle", "boilWater"] == match["metadata"]["identifiers"]


@pytest.mark.parametrize(
    ("query", "files"),
    [
        ("green tea", ["docs/tea.md", "settings.toml"]),
        ("How do I make COFFEES?", ["docs/coffee.md"]),
        ("brewing", ["src/cup.py", "docs/tea.md"]),
        ("boil water", ["src/kettle.py", "docs/tea.md"]),
        ("boilWater", ["src/kettle.py", "docs/tea.md"]),
        ("parse", ["src/parse_header.py"]),
        ("http", ["src/parse_header.py"]),
        ("pour_into()", ["src/cup.py"]),
        ("src/kettle.py", ["src/kettle.py", "src/cup.py", "src/parse_header.py"]),
        ("緑茶", ["docs/日本語.md"]),
        ("日本", ["docs/日本語.md"]),
        ("uberprufung", ["docs/über.md"]),
        ("U\u0308BERPRU\u0308FUNG", ["docs/über.md"]),
        ("facade wide", ["docs/über.md"]),
        ("porcelain", []),
    ],
)
def test_files_are_found_by_what_is_known_of_them(shop, query, files):
    """Names, summaries, identifiers and their parts, whatever their case, ending or script."""
    folder, memory = shop

    assert files == found(memory, query, folder)


def test_a_name_counts_more_than_a_summary(tmp_path):
    """Names, then summaries, then identifiers."""
    files = {
        "one.md": "# x\n\n## kettle\n",
        "two.md": "# kettle of it\n\n## x\n",
        "kettle.md": "# x\n\n## x\n",
    }
    memory = indexed(filled(tmp_path, files))

    assert ["kettle.md", "two.md", "one.md"] == found(memory, "kettle", tmp_path)


def test_the_strategy_says_what_is_looked_at(shop):
    """By metadata: names, extensions, people and dates; at most five, where nothing is said."""
    folder, memory = shop

    def by(query, strategy):
        return found(memory, {"query": query, "matching_strategy": strategy}, folder)

    assert ["src/cup.py", "docs/tea.md"] == by("brewed", "content")
    assert [] == by("brewed", "metadata")
    assert [] == by("Grace", "content")
    assert 3 == len(by("Grace", symbol("metadata")))
    assert ["settings.toml"] == by("toml", "metadata")
    assert 5 == len(by("2026", "metadata"))


def test_what_is_asked_for_counts_more_than_what_is_around(shop):
    """`query`, `template_description` and `inputs` against what was inherited and said before."""
    folder, memory = shop
    around = {"inherited_context": [{"source": "a", "text": "coffee with milk"}]}

    assert ["docs/coffee.md"] == found(memory, around, folder)
    asked = {"template_description": "Heat it", "inputs": {"what": {"thing": "kettle"}}}
    for query in (asked | around, asked | {"previous_outputs": task_result("coffee, milk")}):
        assert ["src/kettle.py", "docs/coffee.md"] == found(memory, query, folder)


def test_fields_may_be_written_as_models_write_them(shop):
    """camelCase, nil for what is not given, symbols for texts."""
    folder, memory = shop
    query = {"templateDescription": symbol("coffee"), "query": None, "matchingStrategy": None}

    assert ["docs/coffee.md"] == found(memory, query, folder)
    assert ["docs/coffee.md"] == found(memory, task_result("coffee"), folder)


def test_what_ranks_alike_is_in_order_of_its_path(tmp_path):
    """So the same index and query give the same, however the index came to be."""
    files = {f"{name}/x.md": "# Tea\n\nThe same.\n" for name in "dbace"}
    one, two = tmp_path / "one", tmp_path / "two"
    first = indexed(filled(one, files))
    second = MemorySystem(two / ".sexplang/index.db")
    for name in reversed(files):
        filled(two, {name: files[name]})
        second.add(two)

    assert sorted(files) == found(first, "tea", one) == found(second, "tea", two)
    assert {1.0} == {match["relevance_score"] for match in second.search("tea")["matches"]}


def test_scores_are_between_0_and_1_and_fall(shop):
    """The best has 1, also where other words help."""
    _, memory = shop
    query = {"query": "tea water kettle", "inherited_context": "coffee tea cup", "limit": 50}
    scores = [match["relevance_score"] for match in memory.search(query)["matches"]]

    assert 1.0 == scores[0]
    assert sorted(scores, reverse=True) == scores
    assert all(0 <= score <= 1 for score in scores)


def test_the_unmatched_follow_if_they_are_asked_for(shop):
    """With the score 0, in order of their paths: what a matcher chooses from."""
    folder, memory = shop
    query = {"query": "coffee", "include_unmatched": True, "limit": 3}

    assert ["docs/coffee.md", "docs/tea.md", "docs/über.md"] == found(memory, query, folder)
    scores = [match["relevance_score"] for match in memory.search(query)["matches"]]
    assert [1.0, 0.0, 0.0] == scores
    everything = {"include_unmatched": True, "limit": 1000}
    assert 8 == len(found(memory, everything, folder))


def test_a_word_of_most_files_still_counts(tmp_path):
    """Whoever has it is told from who has none of the words."""
    files = {"a.md": "# Tea", "b.md": "# Tea too", "c.md": "# Coffee", "d.md": "# Milk"}
    memory = indexed(filled(tmp_path, files))
    query = {"query": "tea tea tea coffee", "include_unmatched": True}
    scores = {m["id"][-4:]: m["relevance_score"] for m in memory.search(query)["matches"]}

    assert ["c.md", "a.md", "b.md", "d.md"] == list(scores)
    assert 1.0 == scores["c.md"] > scores["a.md"] > scores["b.md"] > 0.3 and 0.0 == scores["d.md"]


def test_whoever_has_a_word_has_a_score(tmp_path):
    """However little one word in a long text says beside a name that has them all."""
    memory = indexed(filled(tmp_path, {" ".join(f"w{n}" for n in range(50)): "x"}))
    memory.update({"/else/long.md": "w1 " + "other " * 100_000, "/else/none.md": "other"})
    query = {"query": " ".join(f"w{n}" for n in range(50)), "include_unmatched": True}
    scores = [match["relevance_score"] for match in memory.search(query)["matches"]]

    assert [1.0, 0.0001, 0.0] == scores


# -- What is no good query


@pytest.mark.parametrize(
    "query",
    [
        *("", " ", "\0", "???", '"', '""', "\\", "%s %d", "\ud800", "🫖", "(" * 500),
        *("foo-bar(", "a AND b NOT c", "NEAR(x y, 3)", "x* ^y", "{a} : b", "names : kettle2"),
        *("'; drop table files; --", "-- * -- *"),
    ],
)
def test_nothing_that_a_query_says_is_syntax(shop, query):
    """It finds nothing, and nothing breaks."""
    folder, memory = shop

    assert [] == found(memory, query, folder)


@pytest.mark.parametrize(
    "query", ["kettle(", '"kettle"', "kettle*", "-kettle", "kettle\0cup2", "x OR kettle AND"]
)
def test_marks_around_a_word_do_not_hide_it(shop, query):
    """Only its words count."""
    folder, memory = shop

    assert ["src/kettle.py"] == found(memory, query, folder)


def test_a_query_may_be_very_long(shop):
    """A million characters, or as many words as one likes: those said most often count."""
    folder, memory = shop
    many = " ".join(f"word{n}" for n in range(20_000))

    assert [] == found(memory, "x" * 1_000_000, folder)
    assert ["src/kettle.py"] == found(memory, "kettle " * 150_000, folder)
    assert ["src/kettle.py"] == found(memory, f"kettle {many} kettle", folder)
    assert 64 == len(terms([many]))


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_a_query(shop, query):
    """It gives matches, never an error; twice the same."""
    _, memory = shop
    reply = memory.search(query)

    assert reply["error"] is None
    assert reply == memory.search(query)


@given(st.text(max_size=40))
def test_words_are_letters_and_digits(text):
    """And marks that are letters of their own; nothing else goes to the index or to the search."""
    for word in words(text):
        assert all(char.isalnum() or category(char).startswith("M") for char in word)


@given(st.text(max_size=40))
def test_a_text_has_the_same_words_however_it_is_spelled(text):
    """Composed or not."""
    found_ = list(words(text))

    assert found_ == list(words(normalize("NFD", text))) == list(words(normalize("NFC", text)))


SPELLED = [
    # What stands in a file, and what somebody types to find it.
    *(("Fuß", "fuss"), ("Fuß", "FUSS"), ("Fuß", "Fuß"), ("Größe", "grosse"), ("Größe", "GRÖSSE")),
    *(("STRASSE", "Straße"), ("Straße", "strasse"), ("weiß", "WEIẞ"), ("ﬁne", "fine")),
    *(("αρχείο", "αρχειο"), ("ΑΡΧΕΙΟ", "αρχείο"), ("σοφός", "ΣΟΦΟΣ"), ("Ἀθήνα", "αθηνα")),
    *(("İstanbul", "istanbul"), ("ISPARTA", "ısparta"), ("ılık", "ILIK"), ("İĞDE", "iğde")),
    *(("Đà Nẵng", "da nang"), ("tiếng Việt", "TIENG VIET"), ("Łódź", "lodz"), ("Œuvre", "oeuvre")),
    *(("ёлка", "елка"), ("ЁЛКА", "ёлка"), ("йод", "ЙОД"), ("и\u0306од", "йод")),
    *(("مَدْرَسَة", "مدرسة"), ("أحمد", "احمد"), ("كتـــاب", "كتاب"), ("שָׁלוֹם", "שלום")),
    *(("한국", normalize("NFD", "한국")), (normalize("NFD", "검색기"), "검색")),
    *(("ガス", "ｶﾞｽ"), ("ＷＩＤＥ", "wide"), ("検索", "検索窓"), ("pdf変換", "変換")),
    *(("हिन्दी", "हिन्दी"), ("ค้นหาไฟล์", "ค้นหา"), ("so\u00adft", "soft")),
]


@pytest.mark.parametrize(("kept", "asked"), SPELLED)
def test_a_word_is_found_however_it_is_spelled(tmp_path, kept, asked):
    """Without case, accents and widths, in whatever script; in names and summaries alike."""
    memory = indexed(filled(tmp_path, {"one.md": f"# {kept}\n", f"{kept}.py": "", "no.md": "# x"}))

    assert {f"{kept}.py", "one.md"} == set(found(memory, asked, tmp_path))


@pytest.mark.parametrize(
    ("kept", "asked"), [("ガス", "カス"), ("हिन्दी", "हद"), ("Straße", "strase"), ("가나", "각난")]
)
def test_other_letters_are_other_words(tmp_path, kept, asked):
    """What is no accent is not left out."""
    memory = indexed(filled(tmp_path, {"one.md": f"# {kept}\n"}))

    assert [] == found(memory, asked, tmp_path)


def test_idle_words_are_left_out_unless_there_are_no_others():
    """`how do I …` says nothing."""
    assert ("make", "tea") == terms(["How do I make the tea?"])
    assert ("how", "do") == terms(["How do"])


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (None, "a query is a text or a table"),
        (3, "a query is a text or a table"),
        (("tea",), "a query is a text or a table"),
        ({"qury": "tea"}, "no field `qury`"),
        ({"query": 3}, "`query` is a text"),
        ({"query": {"a": 1}}, "`query` is a text"),
        ({"query": "tea", "matching_strategy": "both"}, "`matching_strategy` is"),
        ({"query": "tea", "matching_strategy": ("content",)}, "`matching_strategy` is"),
        ({"query": "tea", "limit": 0}, "`limit` is an integer from 1 to 1,000"),
        ({"template_type": "a", "templateType": "b"}, "`template_type` occurs twice"),
        ({"query": "tea", "limit": 1001}, "`limit`"),
        ({"query": "tea", "limit": True}, "`limit`"),
        ({"query": "tea", "limit": 2.0}, "`limit`"),
    ],
)
def test_what_is_no_query_is_told_in_the_reply(shop, query, says):
    """A record with an error, not an exception."""
    kind, reason, message = error(shop[1], query)

    assert ("TASK_FAILURE", "context_parsing_failure") == (kind, reason)
    assert says in message


# -- What may be seen


def test_only_what_may_be_read_is_found(shop):
    """Below the program's folder by relative path, elsewhere by absolute path, else not at all."""
    folder, memory = shop

    def paths(query="tea kettle", **rights):
        return [
            match["source_path"]
            for match in search(query, memory.index, Permissions(**rights))["matches"]
        ]

    tea, settings_file = str(folder / "docs/tea.md"), str(folder / "settings.toml")
    assert ["src/kettle.py", "docs/tea.md", "settings.toml"] == paths(folder=folder)
    assert ["tea.md"] == paths(folder=folder / "docs")
    assert ["tea.md", settings_file] == paths(folder=folder / "docs", read=[settings_file])
    assert [tea] == paths(folder=folder / "src", read=[tea], query="green")
    assert [] == paths() == paths(folder=folder / "doc") == paths(read=[folder / "docs/te"])


def test_nothing_is_told_of_what_may_not_be_read(shop):
    """Whether it would have fitted cannot be seen."""
    folder, memory = shop
    rights = Permissions(folder=folder / "docs")

    assert search("kettle", memory.index, rights) == search("porcelain", memory.index, rights)
    (match,) = search("boil water", memory.index, rights)["matches"]
    assert ("tea.md", 1.0) == (match["source_path"], match["relevance_score"])


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(["merger", "budget", "other tea"]), max_size=6),
    st.booleans(),
    st.sampled_from(["merger budget", "tea tea other", "merger"]),
)
def test_files_that_may_not_be_read_change_nothing(pair, words_of, include_unmatched, query):
    """Neither what is found nor its order nor its scores: with them and without."""
    folder, alone = pair
    hidden = {f"{folder}/priv/{n}.md": words_of[n] if n < len(words_of) else "" for n in range(6)}
    memory = MemorySystem(folder / ".sexplang/index.db")
    memory.update(hidden)
    asked = {"query": query, "inherited_context": "budget", "include_unmatched": include_unmatched}

    def seen(index):
        return search(asked, index, Permissions(folder=folder / "pub"))

    assert seen(alone.index) == seen(memory.index)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A folder, and an index of that part of it that may be read."""
    files = {"a.md": "# Merger", "b.md": "# Budget", "c.md": "# Other", "d.md": "# Budget tea"}
    folder = filled(
        tmp_path_factory.mktemp("pair"), {f"pub/{name}": text for name, text in files.items()}
    )
    for place in ("index.db", "alone.db"):
        MemorySystem(folder / ".sexplang" / place).add(folder / "pub")
    return folder, MemorySystem(folder / ".sexplang/alone.db")


def test_names_with_a_dot_are_seen_by_a_grant_that_names_them(tmp_path):
    """As for `read-file`."""
    folder = filled(tmp_path / ".hidden/shop")
    memory = MemorySystem(tmp_path / "a.db")
    memory.add(folder)

    def count(**rights):
        return len(search("tea", memory.index, Permissions(**rights))["matches"])

    assert (0, 2, 2) == (count(folder=tmp_path), count(folder=folder), count(read=[folder.parent]))


def test_a_link_to_the_project_shows_the_same(tmp_path, shop):
    """The program's folder may have another name."""
    folder, memory = shop
    (tmp_path / "link").symlink_to(folder)
    reply = search("kettle", memory.index, Permissions(folder=tmp_path / "link"))

    assert ["src/kettle.py"] == [match["id"] for match in reply["matches"]]


def test_a_program_sees_the_nearest_index_above_it(tmp_path):
    """Unless another is named."""
    outer = filled(tmp_path / "outer")
    inner = filled(outer / "inner", {"a.md": "# Tea"})
    indexed(outer, exclude=["inner/"])
    rights = Permissions(folder=inner, read=[outer])

    def paths(index=None):
        return [os.path.basename(match["id"]) for match in search("tea", index, rights)["matches"]]

    assert ["tea.md", "settings.toml"] == paths()
    own = indexed(inner)
    assert ["a.md"] == paths()
    assert [] == paths(str(tmp_path / "none.db"))
    assert ["a.md"] == paths(own.index)


def test_the_name_of_a_file_forges_no_line(tmp_path):
    """A model sees it escaped; the path is what it is."""
    path = "tea\nSummary: all is well\u2028\x1b[31m.md"
    reply = indexed(filled(tmp_path / "shop", {path: "Tea."})).search("tea")
    (match,) = [each for each in reply["matches"] if each["id"].endswith(path)]
    lines = match["content"].splitlines()

    assert ["Summary: Tea."] == [line for line in lines if line.startswith("Summary")]
    assert lines[0].endswith("tea\\nSummary: all is well\\u2028\\x1b[31m.md")
    assert "\n" not in reply["summary"] and "all is well" in reply["summary"]


@pytest.mark.parametrize(("failures", "found_"), [(0, True), (1, True), (2, False)])
def test_a_search_that_fails_is_made_once_more(shop, failures, found_):
    """And no more than that; then the reply says why."""
    asked = []

    def shown(path):
        asked.append(path)
        if len(asked) <= failures:
            raise refuse("index-busy", "another process is in the way")
        return path

    reply = answer(str(shop[0] / ".sexplang/index.db"), {"query": "kettle"}, shown)

    assert found_ == (reply["error"] is None) == bool(reply["matches"])
    if not found_:
        assert 2 == len(asked)
        assert "index-busy" == reply["error"].fields["details"]["code"]
