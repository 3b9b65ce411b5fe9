"""The names of the code: functions are verbs, modules are nouns, one word has one meaning."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(ROOT.glob("sexplang/**/*.py"))

PARTICIPLES = frozenset(
    [
        "begun",
        "blown",
        "broken",
        "brought",
        "built",
        "caught",
        "chosen",
        "done",
        "drawn",
        "driven",
        "drunk",
        "eaten",
        "fallen",
        "felt",
        "flown",
        "forgotten",
        "found",
        "given",
        "gone",
        "grown",
        "had",
        "held",
        "hidden",
        "kept",
        "known",
        "laid",
        "led",
        "left",
        "lit",
        "lost",
        "made",
        "meant",
        "met",
        "paid",
        "ridden",
        "risen",
        "rung",
        "said",
        "seen",
        "sent",
        "shaken",
        "shown",
        "sought",
        "spent",
        "spoken",
        "stolen",
        "stood",
        "sung",
        "sunk",
        "sworn",
        "swum",
        "taken",
        "taught",
        "thought",
        "thrown",
        "told",
        "torn",
        "understood",
        "woken",
        "won",
        "worn",
        "written",
    ]
)
"""Irregular participles that are no base form of a verb."""
VERBS_IN_ED = frozenset(("need", "feed", "seed", "speed", "embed", "exceed", "proceed", "heed"))
NOUNS_IN_ING = frozenset(("binding", "string", "testing"))
PRIVATE_WORDS = frozenset(
    ("door", "room", "had", "stood", "told", "placed", "spared", "sparing", "beneath")
)
"""Words of the first edition's dialect: each has a term of the field now."""


def test_no_function_is_a_past_participle():
    """A function is a verb, a predicate or, where it only reads, a noun."""
    assert [
        f"{where}: {name}"
        for where, kind, name in definitions()
        if kind == "function" and is_participle(words(name)[0])
    ] == []


def test_no_module_is_a_gerund():
    """A module is a noun."""
    assert [
        name
        for name in map(relative, SOURCES)
        for stem in [Path(name).stem]
        if stem.endswith("ing") and words(stem)[-1] not in NOUNS_IN_ING
    ] == []


def test_neighbours_have_different_names():
    """No two modules of neighbouring folders share a name: a folder, its parent, its siblings."""
    places: dict[str, list[Path]] = defaultdict(list)
    for file in SOURCES:
        if not file.stem.startswith("__"):
            places[file.stem].append(file.parent)
    assert {
        name: [relative(one), relative(other)]
        for name, folders in places.items()
        for one in folders
        for other in folders
        if one != other and (one in (other.parent, *siblings(other)) or other == one.parent)
    } == {}


def test_no_name_is_a_private_metaphor():
    """Words that meant something in this code alone stand in no name."""
    assert [
        f"{where}: {name}"
        for where, _, name in [*definitions(), *modules()]
        if PRIVATE_WORDS.intersection(words(name))
    ] == []


def test_folders_stay_small():
    """More than fifteen modules in a folder need subfolders that say why."""
    sizes: dict[str, int] = defaultdict(int)
    for file in SOURCES:
        if file.name != "__init__.py":
            sizes[relative(file.parent)] += 1

    assert {folder: count for folder, count in sizes.items() if count > 15} == {}


def is_participle(word: str) -> bool:
    return word in PARTICIPLES or (word.endswith("ed") and word not in VERBS_IN_ED)


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A property reads like a field: it may be an adjective."""
    names = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
    return not names.isdisjoint(("property", "cached_property"))


def words(name: str) -> list[str]:
    return name.strip("_").lower().split("_") or [""]


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def siblings(folder: Path) -> list[Path]:
    """Folders beside one. The top level of the package has none."""
    if folder == ROOT / "sexplang":
        return []
    return [each for each in folder.parent.iterdir() if each.is_dir() and each != folder]


def modules() -> Iterator[tuple[str, str, str]]:
    for file in SOURCES:
        yield relative(file), "module", file.stem


def definitions() -> Iterator[tuple[str, str, str]]:
    """The place, the kind and the name of each function, class and field."""
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                kind = "property" if is_property(node) else "function"
                yield f"{relative(file)}:{node.lineno}", kind, node.name
            elif isinstance(node, ast.ClassDef):
                yield f"{relative(file)}:{node.lineno}", "class", node.name
                for part in node.body:
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        yield f"{relative(file)}:{part.lineno}", "field", part.target.id
