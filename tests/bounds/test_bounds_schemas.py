"""Schemas that somebody else wrote, and replies under them: bounded before they are looked into."""

import json
import random

import pytest

from sexplang.hosts.settings.mcp_options import in_json
from sexplang.runtime import Refusal
from sexplang.runtime.models.adapters.reply_grammar import reply_schema
from sexplang.schemas import checker
from sexplang.schemas.linear_patterns import states_of
from sexplang.schemas.schema import misfit, schema_problem
from sexplang.schemas.type_check import MOST_STEPS
from sexplang.templates import read_reply
from sexplang.templates.xsd import BadXsd, compile_xsd
from sexplang.terms.schemas import MOST_PARTS, bound_of
from sexplang.terms.template import OutputFormat
from sexplang.terms.values.boundary import value_of


def doubling(levels, word="allOf", last=None):
    """Each level is two of the next."""
    named = {
        f"d{n}": {word: [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(levels)
    }
    return {"$defs": {**named, f"d{levels}": last or {"type": "string"}}, "$ref": "#/$defs/d0"}


def deep(levels, data):
    for _ in range(levels):
        data = {"x": data}
    return data


TREE = {
    "$defs": {
        "node": {
            "anyOf": [
                {"type": "integer"},
                {"type": "object", "properties": {"x": {"$ref": "#/$defs/node"}, "y": {}}},
                {"type": "object", "properties": {"x": {"$ref": "#/$defs/node"}, "z": {}}},
            ]
        }
    },
    "$ref": "#/$defs/node",
}


# -- patterns


@pytest.mark.parametrize("name", ["a" * 60, "a" * 5000 + "c"])
def test_a_name_of_a_field_stalls_no_pattern(name):
    """Python's engine takes twice as long for each letter."""
    schema = {"type": "object", "patternProperties": {"(a|a)*b": {"type": "integer"}}}
    reading = read_reply(json.dumps({name: 1.5, "ab": 1.0}), OutputFormat("json", schema))

    assert reading.problem is None
    assert {name: 1.5, "ab": 1} == reading.value
    assert isinstance(reading.value["ab"], int)


BEYOND = [
    ("(?=a)b", "a lookahead, `(?=`"),
    ("a(?!b)", "a lookahead, `(?!`"),
    ("(?<=a)b", "a lookbehind, `(?<=`"),
    ("(?<!a)b", "a lookbehind, `(?<!`"),
    (r"(a)\1", r"a backreference, `\1`"),
    (r"(?<n>a)\k<n>", r"a backreference, `\k`"),
    (r"[\](?!](?!b)", "a lookahead, `(?!`"),
    ("(?>a)", "an atomic group"),
    ("[", "is none, or too large a one"),
    ("(a{1,1000}){1,1000}", "is none, or too large a one"),
    ("a" * 20_001, "has more than 20,000 characters"),
]


@pytest.mark.parametrize(("pattern", "words"), BEYOND, ids=[each[:20] for each, _ in BEYOND])
@pytest.mark.parametrize("place", ["pattern", "patternProperties", "propertyNames", "referred"])
def test_what_the_linear_engine_cannot_do_is_refused_by_name(pattern, words, place):
    """When the schema is read, wherever the pattern stands in it."""
    schema = {
        "pattern": {"items": {"pattern": pattern}},
        "patternProperties": {"anyOf": [{"patternProperties": {pattern: {}}}]},
        "propertyNames": {"propertyNames": {"pattern": pattern}},
        "referred": {"$ref": "#/odd/0", "odd": [{"pattern": pattern}]},
    }[place]

    assert words in schema_problem(schema)


def test_patterns_are_bounded_together():
    """Each is taken, all of them are not."""
    many = [f"^[a-z]{{1,{900 + each}}}$" for each in range(30)]
    assert schema_problem({"pattern": many[0]}) is None

    assert "too large together" in schema_problem({"anyOf": [{"pattern": p} for p in many]})


def test_the_patterns_of_an_xsd_are_bounded_too():
    """One by one, and together."""
    simple = '<xs:simpleType><xs:restriction base="xs:string">{}</xs:restriction></xs:simpleType>'
    whole = (
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">'
        f'<xs:element name="a">{simple}</xs:element></xs:schema>'
    )
    patterns = [f'<xs:pattern value="\\w{{1,{60 + each}}}"/>' for each in range(3)]
    assert compile_xsd(whole.format(patterns[0]))

    with pytest.raises(BadXsd, match="too large together"):
        compile_xsd(whole.format("".join(patterns)))
    with pytest.raises(BadXsd, match="too large a one"):
        compile_xsd(whole.format('<xs:pattern value="(\\w{1,1000}){1,1000}"/>'))


REPEATED = "^(a{1,100}){1,100}$"


@pytest.mark.parametrize("place", ["alone", "typed", "names", "copies", "deep"])
def test_a_pattern_costs_its_states_for_each_byte(place):
    """A small pattern of many states took two seconds for a thousand letters."""
    schema, data, typed = {
        "alone": ({"pattern": REPEATED}, "a" * 1000 + "b", False),
        "typed": ({"type": "array", "items": {"pattern": REPEATED}}, ["a" * 99 + "b"] * 99, True),
        "names": ({"propertyNames": {"pattern": REPEATED}}, {"a" * 1000: 1}, False),
        "copies": (doubling(6, last={"pattern": REPEATED}), "a" * 99, False),
        "deep": ({"items": {"items": {"items": {"pattern": REPEATED}}}}, [[["a" * 999]]], False),
    }[place]
    reading = read_reply(json.dumps(data), OutputFormat("json", schema, typed=typed))

    assert "takes more than 10,000,000 steps" in reading.problem


def test_a_pattern_of_an_xsd_costs_its_states_too():
    """All texts of a reply have one account."""
    xsd = (
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r">'
        '<xs:complexType><xs:sequence><xs:element name="v" maxOccurs="unbounded"><xs:simpleType>'
        '<xs:restriction base="xs:string"><xs:pattern value="(a{1,100}){1,100}"/></xs:restriction>'
        "</xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>"
    )
    read = lambda n: read_reply(f"<r>{'<v>aaa</v>' * n}</r>", OutputFormat("xml", xsd))  # noqa: E731

    assert read(3).value == {"v": ("aaa",) * 3}
    assert "takes more than 10,000,000 steps" in read(300).problem


def test_the_items_of_an_xml_list_have_an_account():
    """Half a million would take minutes."""
    union = '<xs:simpleType name="u"><xs:union memberTypes="xs:int xs:date xs:time"/>'
    xsd = (
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r">'
        '<xs:simpleType><xs:list itemType="u"/></xs:simpleType></xs:element>'
        f"{union}</xs:simpleType></xs:schema>"
    )

    assert read_reply(f"<r>{'7 ' * 300}</r>", OutputFormat("xml", xsd)).value == (7,) * 300
    problem = read_reply(f"<r>{'x ' * 500_000}</r>", OutputFormat("xml", xsd)).problem
    assert "takes more than 10,000,000 steps" in problem


@pytest.mark.parametrize(
    ("pattern", "states"),
    [
        ("abc", 3),
        (r"^\d{4}-\d{2}$", 3 + 8 + 4),
        ("[]()x{9]+", 2),
        (r"(a{1,100}){1,100}", 100 * (2 + 200) + 100),
        (r"((a?)*){0,20}", 20 * (2 + 2 + 2 + 1) + 20),
        ("a{3,}|b{0}", 6 + 1 + 2),
        (r"\p{L}{9}\x{41}", 18 + 1),
        (f"a{{{'0' * 5000}3}}", 6),
        ("[[a]{9}]", None),
        ("(?x)a{ 1 , 9 }", None),
    ],
)
def test_the_states_of_a_pattern_are_counted_as_written_out(pattern, states):
    """What cannot be told from the text is told by the size of what was made of it."""
    assert states_of(pattern) == states


def test_what_does_not_fit_is_looked_for_on_an_account():
    """A level of the data is in all those above it."""
    schema = {"$defs": {"n": {"type": ["string", "object"], "pattern": "^(a{1,20}){1,20}$",
              "properties": {"x": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}  # fmt: skip
    reading = read_reply(json.dumps(deep(100, "a" * 500)), OutputFormat("json", schema))

    assert "it does not fit, and is too much to say where" in reading.problem


# -- references


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("levels", [13, 30, 60])
def test_a_schema_is_bounded_as_it_is_written_out(word, levels):
    """What thirty lines stand for would be a thousand million parts."""
    assert f"more than {MOST_PARTS:,} parts" in schema_problem(doubling(levels, word))


@pytest.mark.parametrize("word", ["allOf", "anyOf", "oneOf"])
def test_what_is_small_enough_costs_no_more_than_it_is(word):
    """Of a misfit that many ways lead to, each is told once."""
    found = misfit(1, doubling(11, word))

    assert 1 == len(found.violations)
    assert found.violations[0].startswith("the whole: 1 is not ")


CIRCLES = [
    ({"$ref": "#"}, "`#` → `#`"),
    ({"anyOf": [{"type": "null"}, {"$ref": "#"}]}, "`#` → `#`"),
    (
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        "`#/$defs/b` → `#/$defs/a` → `#/$defs/b`",
    ),
    (
        {
            "properties": {"x": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"not": {"if": {}, "then": {"$ref": "#/$defs/a"}}}},
        },
        "`#/$defs/a` → `#/$defs/a`",
    ),
]


@pytest.mark.parametrize(("schema", "circle"), CIRCLES)
def test_a_circle_of_references_is_refused(schema, circle):
    """It would take anything, and says nothing of what stands in the value."""
    assert f"its references lead in a circle: {circle}" == schema_problem(schema)


RECURSIVE = [
    TREE,
    {"items": {"$ref": "#"}},
    {"$defs": {"n": {"$anchor": "n", "properties": {"x": {"$ref": "#n"}}}}, "$ref": "#n"},
    {"definitions": {"a b": {"additionalProperties": {"$ref": "#/definitions/a%20b"}}},
     "$ref": "#/definitions/a%20b"},
    {"$id": "https://example.org/tree", "prefixItems": [{"type": "integer"}, {"$ref": "#"}]},
]  # fmt: skip


@pytest.mark.parametrize("schema", RECURSIVE)
def test_a_schema_may_hold_itself_inside(schema):
    """As a tree does."""
    assert schema_problem(schema) is None
    assert misfit({}, schema) is None or misfit([], schema) is None


def test_a_union_of_itself_costs_its_data_once():
    """Two branches lead to each level, so that a hundred levels have 2^100 ways."""
    assert misfit(deep(100, 1), TREE) is None
    found = misfit(deep(100, "leaf"), TREE)

    assert 1 == len(found.violations)
    assert found.violations[0].startswith(f"{'.x' * 100}: "[1:])


ELSEWHERE = [
    ({"$ref": "https://example.org/a.json"}, "refers to another document"),
    ({"$ref": "a.json#/b"}, "refers to another document"),
    ({"$ref": "#/$defs/no"}, "`#/$defs/no` refers to nothing in it"),
    ({"$ref": "#no"}, "`#no` refers to nothing in it"),
    ({"$ref": "#/allOf/7", "allOf": [{}]}, "refers to nothing in it"),
    ({"items": {"$dynamicRef": "#x"}}, "`$dynamicRef` is not taken here: write `$ref`"),
    ({"items": {"$recursiveRef": "#"}}, "`$recursiveRef` is not taken here"),
    ({"items": {"$id": "b", "$ref": "#/c"}}, "a part of it has the `$id` `b`"),
]


@pytest.mark.parametrize(("schema", "words"), ELSEWHERE)
def test_references_lead_to_parts_of_the_schema(schema, words):
    """And of nothing else it is known what it stands for."""
    assert words in schema_problem(schema)


def test_a_schema_is_bounded_in_its_size():
    """In its text, its depth and its parts, before the library sees it."""
    nested = {"type": "integer"}
    for _ in range(65):
        nested = {"properties": {"x": nested}}

    assert "more than 128 levels" in schema_problem(nested)
    assert "more than 100,000 characters" in schema_problem({"title": "x" * 100_000})
    assert "more than 10,000 parts" in schema_problem({"anyOf": [{}] * 10_000})
    chain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(200)}
    assert "more than 128 levels" in schema_problem(
        {"$defs": {**chain, "d200": {}}, "$ref": "#/$defs/d0"}
    )


# -- replies


def test_a_check_has_an_account():
    """Of a large schema and a large reply together; a large reply alone is nothing."""
    schema = {"items": {"anyOf": [{"const": str(each)} for each in range(3000)]}}
    assert misfit(["7"] * 100, schema) is None
    assert misfit(list(range(100_000)), {"items": {"type": "integer"}}) is None

    assert "takes more than 10,000,000 steps" in misfit(["7"] * 5000, schema).sentence


def test_choices_cost_what_is_in_them():
    """To compare with a list takes a look at each of its items."""
    schema = {"items": {"enum": [[number] * 5 for number in range(1_000)]}}

    assert "takes more than 10,000,000 steps" in misfit([[999] * 5] * 2_000, schema).sentence
    assert misfit([[999] * 5] * 1_000, schema) is None


@pytest.mark.parametrize("word", ["dependentRequired", "patternProperties"])
def test_names_that_a_field_may_have_are_steps_at_each_table(word):
    """Each is looked for in a table that has none of them."""
    named = {f"p{each}": [] if word == "dependentRequired" else True for each in range(500)}

    assert misfit([{}] * 100, {"items": {word: named}}) is None
    assert "takes more than" in misfit([{}] * 40_000, {"items": {word: named}}).sentence


def test_one_misfit_in_a_large_reply_is_found():
    """What is looked through on the way is counted closely."""
    schema = {"items": {"properties": {f"p{each}": {"type": "integer"} for each in range(500)}}}
    found = misfit([{"p7": 1}] * 9000 + [{"p7": "x"}], schema)

    assert found.violations == ('[9000].p7: "x" is not of type "integer"',)


def test_what_is_counted_is_what_speaks_about_a_value():
    """A large form is not counted for each of its fields."""
    fields = {f"f{each}": {"enum": ["a", "b", "c"]} for each in range(1000)}
    schema = {"type": "array", "items": {"type": "object", "properties": fields}}

    assert misfit([{f"f{each}": "b" for each in range(1000)}] * 5, schema) is None


def test_a_type_of_the_language_has_an_account_too():
    """Unions and choices are looked through in Python."""
    schema = {"type": "array", "items": {"anyOf": [{"enum": [str(each)]} for each in range(2000)]}}
    reading = read_reply(
        json.dumps([f"x{each}" for each in range(500)]), OutputFormat("json", schema, typed=True)
    )

    assert f"takes more than {MOST_STEPS:,} steps" in reading.problem


WORDS = [
    *("type", "enum", "const", "minimum", "minLength", "minItems", "pattern", "uniqueItems"),
    *("required", "dependentRequired", "dependentSchemas", "$ref", "anyOf", "oneOf", "allOf"),
    *("properties", "patternProperties", "additionalProperties", "propertyNames", "not", "if"),
    *("items", "prefixItems", "contains", "unevaluatedProperties", "unevaluatedItems"),
]


def some_schema(chance, depth=3):
    """Any schema of a few words."""
    if depth == 0 or chance.random() < 0.1:
        return chance.choice([True, False, {}, {"type": chance.choice(["integer", "string"])}])
    inner = lambda: some_schema(chance, depth - 1)  # noqa: E731
    made = {}
    for word in chance.sample(WORDS, chance.randint(1, 3)):
        made[word] = {
            "type": lambda: chance.choice(["integer", "object", "array", ["string", "null"]]),
            "enum": lambda: [1, "a", None],
            "const": lambda: {"a": 1},
            "minimum": lambda: 2,
            "minLength": lambda: 2,
            "minItems": lambda: 2,
            "pattern": lambda: "^a",
            "uniqueItems": lambda: True,
            "required": lambda: ["a"],
            "dependentRequired": lambda: {"a": ["b"]},
            "$ref": lambda: "#/$defs/t",
            "unevaluatedProperties": lambda: False,
            "unevaluatedItems": lambda: False,
        }.get(word, inner)()
        if word in ("properties", "patternProperties", "dependentSchemas"):
            made[word] = {name: inner() for name in ("a", "b")}
        elif word in ("anyOf", "oneOf", "allOf", "prefixItems"):
            made[word] = [inner(), inner()]
    return made


def some_data(chance, depth=3):
    kind = chance.randint(0, 5 if depth else 3)
    if kind == 4:
        return [some_data(chance, depth - 1) for _ in range(chance.randint(0, 3))]
    if kind == 5:
        return {name: some_data(chance, depth - 1) for name in chance.sample("abcd", 2)}
    return [None, 1, "ab", 1.5][kind]


@pytest.mark.parametrize("seed", range(6))
def test_what_does_not_fit_is_told_and_what_fits_is_not(seed):
    """By whichever words a schema is made of: as the library has it, and with a reason."""
    chance = random.Random(seed)
    misfits = 0
    for _ in range(250):
        schema = some_schema(chance)
        if not isinstance(schema, dict):
            continue
        schema = {**schema, "$defs": {"t": {"type": ["integer", "object"]}}}
        data = some_data(chance)
        assert schema_problem(schema) is None
        found = misfit(data, schema)
        fits = checker.validator(schema).is_valid(data)
        assert fits is (found is None), (schema, data)
        assert fits or found.violations, (schema, data)
        misfits += not fits

    assert misfits > 50


# -- other places of schemas


def test_an_input_of_a_servers_tool_is_looked_at_once():
    """Thirty levels of a hundred ways each, and a circle of which nobody knows what it takes."""
    named = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 100} for n in range(30)}
    named["d30"] = {"type": "integer"}
    schema = {"properties": {"x": {"$ref": "#/$defs/d0"}, "y": {"$ref": "#/$defs/y"}},
              "$defs": {**named, "y": {"$ref": "#/$defs/y"}}}  # fmt: skip

    class Known:
        def describe(self, tools):
            return {tool: {"input_schema": value_of(schema)} for tool in tools}

    assert {"x"} == in_json(Known(), "m:t")


@pytest.mark.parametrize("schema", [doubling(40), CIRCLES[2][0], {"$ref": "#/$defs/no"}])
def test_the_local_model_is_held_to_no_schema_without_a_bound(schema):
    """Its engine writes out what references stand for."""
    with pytest.raises(Refusal, match="local model cannot hold to the schema of the output"):
        reply_schema([], schema, {})
    with pytest.raises(Refusal, match="of a tool"):
        reply_schema([{"name": "t", "input_schema": schema}], None, {})


@pytest.mark.parametrize("levels", [8, 16, 32, 64])
def test_the_bound_itself_is_linear(levels):
    """Each part is met as often as it is referred to."""
    wide = {"properties": {str(n): {"$ref": "#/$defs/t"} for n in range(levels * 20)}}
    bound = bound_of({**wide, "$defs": {"t": {"enum": [1, 2, 3]}}})

    assert (levels * 20 + 2, 1 + levels * 20 * 5) == (len(bound.parts), bound.count)
