"""What a task in XML returns: a type with the names of a module, a schema's file."""

import json

import pytest
from support.command import sexplang as command

import sexplang

TYPES = """
(import "person.sexp" as: people)
(define-type Trip {to: string with: [people.Person]} "A trip.")
(define-type Way (or {by: (one-of "train") next: Way} nil))
(define-type _Price number)
"""
PERSON = "(define-type Person {name: string})"
XML = """<task name="plan" type="atomic" {attribute}>
  <instructions>Plan a trip.</instructions>
  {element}
</task>"""
PROGRAM = '(import "plan.xml") (plan)'
TRIP = '{"to": "Rome", "with": [{"name": "Ada"}]}'


@pytest.fixture
def run(tmp_path):
    """A run of the task with what it returns, as an attribute or an element."""

    def run(element="", attribute="", model=(), program=PROGRAM, **files):
        (tmp_path / "types.sexp").write_text(files.get("types", TYPES))
        (tmp_path / "person.sexp").write_text(PERSON)
        (tmp_path / "trip.json").write_text('{"type": "object", "required": ["to"]}')
        (tmp_path / "plan.xml").write_text(XML.format(element=element, attribute=attribute))
        (tmp_path / "main.sexp").write_text(program)
        return sexplang.run(tmp_path / "main.sexp", model=list(model))

    return run


@pytest.mark.parametrize(
    ("written", "reply", "answer"),
    [
        ("Trip", TRIP, {"to": "Rome", "with": [{"name": "Ada"}]}),
        ("{trip?: Trip}", "{}", {}),
        ("(one-of 1 2)", '{"answer": 2}', 2),
        (
            "[Way]",
            '{"answer": [{"by": "train", "next": null}]}',
            [{"by": "train", "next": None}],
        ),
        (" Trip[] ", '{"answer": []}', []),
    ],
)
def test_a_type_has_the_names_of_a_module(run, written, reply, answer):
    """Alone and in other types, those that refer to themselves and to other modules too."""
    element = f'<returns from="types.sexp">{written}</returns>'

    assert answer == run(element, model=[reply])


def test_a_reply_that_does_not_fit_the_named_type_is_asked_for_again(run):
    element = '<returns from="types.sexp">Trip</returns>'
    wrong = '{"to": "Rome", "with": [{"name": 3}]}'

    assert "Rome" == run(element, model=[wrong, TRIP])["to"]


def test_a_word_that_ends_in_json_is_a_file(run):
    """As the attribute and as the element."""
    for given in (
        {"attribute": 'returns="trip.json"'},
        {"element": "<returns>trip.json</returns>"},
    ):
        assert {"to": "Rome"} == run(model=['{"by": 1}', '{"to": "Rome"}'], **given)


@pytest.mark.parametrize(
    ("element", "attribute", "code", "words"),
    [
        ('<returns from="types.sexp">Tirp</returns>', "", "bad-schema", "did you mean `Trip`?"),
        ('<returns from="types.sexp">_Price</returns>', "", "bad-schema", "`_Price`"),
        ("<returns>Trip</returns>", "", "bad-schema", "`Trip` is not a type"),
        ('<returns from="typs.sexp">Trip</returns>', "", "import-not-found", "typs.sexp"),
        ('<returns from="trip.json">Trip</returns>', "", "import-not-found", "no module"),
        ('<returns from="main.sexp">Trip</returns>', "", "import-cycle", "third module"),
        ('<returns from="types.sexp">Trip</returns>', 'returns="nil"', "duplicate-clause", ""),
        ("", 'returns="trips.json"', "import-not-found", "trips.json"),
        ('<returns form="types.sexp">Trip</returns>', "", "xml-invalid", "from"),
    ],
)
def test_what_names_no_type_is_refused_at_its_place(run, element, attribute, code, words):
    with pytest.raises(sexplang.Diagnostics) as found:
        run(element, attribute)
    (first, *_) = found.value.diagnostics

    assert code == first.code and words in str(found.value)
    assert first.span.source.name.endswith("plan.xml")


def test_a_module_of_types_that_imports_the_template_is_a_cycle(run):
    with pytest.raises(sexplang.Diagnostics) as found:
        run('<returns from="types.sexp">Trip</returns>', types='(import "plan.xml")')

    assert ["import-cycle"] == [each.code for each in found.value.diagnostics]


def test_the_names_of_the_module_stay_in_it(run):
    """They serve the template, and the importer of the template imports them if it wants them."""
    with pytest.raises(sexplang.Diagnostics) as found:
        run('<returns from="types.sexp">Trip</returns>', program=f"{PROGRAM} (as Trip 1)")

    assert ["bad-schema"] == [each.code for each in found.value.diagnostics]


def test_a_task_is_found_by_its_name_with_its_type(run, tmp_path):
    """By `sexplang task`, too."""
    run('<returns from="types.sexp">Trip</returns>', model=[TRIP])
    (tmp_path / "replies.json").write_text(json.dumps([TRIP]))
    model = f"scripted:{tmp_path / 'replies.json'}"
    done = command("task", "plan", "--from", tmp_path / "plan.xml", "--json", "--model", model)

    assert 0 == done.returncode, done.stderr
    assert '"Rome"' in done.stdout
