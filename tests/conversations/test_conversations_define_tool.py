"""Tools that a program defines with `define-tool`."""

import pytest
from support.serving import run_served

import sexplang

WARMTH = """
(define-tool (warmth (city string doc: "a town"))
  "Tells how warm it is in a town."
  (if (equal? city "Turku") 20 (error "no such town:" city)))
(defatom travel (params q) (instructions "{{q}}") (allowed_tools warmth))
(travel "How warm is Turku?")
"""

BY_HAND = """
(define (warmth city)
  (if (equal? city "Turku") 20 (error "no such town:" city)))
(define definition
  {description: "Tells how warm it is in a town."
   input_schema: {type: "object"
                  properties: {city: {type: "string" description: "a town"}}
                  required: ["city"]
                  additionalProperties: false}})
(define (describe payload)
  (merge payload {tools: (map (lambda (tool) (merge tool definition)) payload.tools)}))
(define (call-warmth inputs)
  (if (and (equal? (keys inputs) ["city"]) (string? inputs.city))
      (warmth inputs.city)
      (error "the input of `warmth` does not fit: city: expected string, got" inputs.city)))
(defatom travel (params q) (instructions "{{q}}") (allowed_tools warmth))
(handle (travel "How warm is Turku?")
  ((model payload) resume (resume (model (describe payload))))
  ((tool name inputs) resume (resume (attempt (call-warmth inputs)))))
"""


def calls(*given):
    """The model calls `warmth`, or the tool of a pair, with these inputs."""
    pairs = [each if isinstance(each, tuple) else ("warmth", each) for each in given]
    return [
        {"type": "tool_use", "id": f"t{at}", "name": name, "input": inputs}
        for at, (name, inputs) in enumerate(pairs)
    ]


def results(body):
    """What the last message of a request says of each call, and whether it is an error."""
    blocks = body["messages"][-1]["content"]
    return [(block["content"], block.get("is_error", False)) for block in blocks]


def lines(program):
    return len(program.strip().splitlines())


def test_it_says_in_five_lines_what_takes_eighteen_by_hand():
    """Both programs send the same definition of the tool, and give a model the same results."""
    given = calls({"city": "Turku"}, {"city": "Ys"}, {"city": 3})
    short, by_hand = (run_served(each, given, "Warm.")[1] for each in (WARMTH, BY_HAND))

    assert [body["tools"] for body in short] == [body["tools"] for body in by_hand]
    assert results(short[1])[0] == results(by_hand[1])[0] == ("20", False)
    for (one, is_error), (other, is_other) in zip(
        results(short[1]), results(by_hand[1]), strict=True
    ):
        assert is_error is is_other
        assert ("does not fit" in one) is ("does not fit" in other)
    assert (lines(WARMTH), lines(BY_HAND)) == (5, 18)


TYPED = """
(define-type Cup {price: number  note?: string})
(define-type Tree {value: integer  kids: [Tree]})
(define-type Mood (one-of "up" "down"))
(define-tool (sum-up (cups [Cup]) (tree Tree required: false) (mood Mood default: "up"))
  "Sums up."
  (str (sum (map (lambda (cup) cup.price) cups)) " " mood " " tree))
(defatom t (instructions "Go.") (allowed_tools sum-up))
(t)
"""


def test_types_with_names_are_part_of_the_schema():
    """A parameter that may be left out takes nil, too; a type may refer to itself."""
    cups = [{"price": 1.5}, {"price": 2}]
    given = [
        {"cups": cups},
        {"cups": cups, "tree": None, "mood": "down"},
        {"cups": [{"price": "2"}]},
        {"cups": cups, "mood": "sideways"},
        {"cups": cups, "tree": {"value": 1, "kids": [{"value": "2", "kids": []}]}},
        {"cups": cups, "more": 1},
    ]
    _, (first, last) = run_served(TYPED, calls(*[("sum-up", each) for each in given]), "Done.")

    schema = first["tools"][0]["input_schema"]
    assert schema["required"] == ["cups"]
    assert list(schema["$defs"]) == ["Tree"]
    assert schema["properties"]["mood"] == {"enum": ["up", "down"], "default": "up"}
    told = results(last)
    assert told[:2] == [("3.5 up ", False), ("3.5 down ", False)]
    assert [is_error for _, is_error in told] == [False, False, True, True, True, True]
    for words, (said, _) in zip(
        ("cups[0].price", "mood", "tree.kids[0].value", "`more`"), told[2:], strict=True
    ):
        assert words in said


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("((lambda (x) x))", "wrong-arity"),
        ("(word 1)", "not-a-function"),
        ("(model (lambda (x) x))", "not-data"),
    ],
)
def test_a_mistake_of_the_program_ends_the_run(body, code):
    text = f"""(define-tool (look (word string)) "Looks." {body})
               (defatom t (instructions "Go.") (allowed_tools look))
               (t)"""

    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run(text, model=[{"tool_use": {"name": "look", "input": {"word": "a"}}}, "done"])

    assert failed.value.error.fields["reason"] == code


def test_a_module_exports_its_tools(tmp_path):
    """Those of another file serve a subagent that names them, and private ones do not."""
    (tmp_path / "tools.sexp").write_text(
        """(define rate 2)
           (define-tool (double (n integer)) "Doubles." (* rate n))
           (define-tool (_hidden) "Hides." 1)"""
    )
    main = tmp_path / "main.sexp"
    main.write_text(
        """(import "tools.sexp" as: u)
           (defatom t (instructions "Go.") (allowed_tools u.double))
           (define made (spawn-subagent task: "double it" tools: ["double"]))
           [made.content (t) (u.double 4)]"""
    )
    value, bodies = run_served(
        main, calls(("double", {"n": 3})), "a", calls(("u_double", {"n": 5})), "b"
    )

    assert value == ["a", "b", 8]
    assert [results(bodies[at])[0][0] for at in (1, 3)] == ["6", "10"]
    assert [body["tools"][0]["description"] for body in bodies] == ["Doubles."] * 4


def test_a_handler_of_tool_takes_it_and_may_pass_it_on():
    text = """(define-tool (look (word string)) "Looks." (string-upcase word))
              (defatom t (instructions "Go.") (allowed_tools look))
              (handle (t)
                ((tool name inputs) resume
                  (if (equal? inputs.word "a")
                      (resume "mine")
                      (forward resume tool name inputs))))"""
    given = calls(("look", {"word": "a"}), ("look", {"word": "b"}))
    _, (_, last) = run_served(text, given, "Done.")

    assert results(last) == [("mine", False), ("B", False)]


def test_its_parameters_have_types_for_check():
    """A field that the type does not have is found in the body."""
    text = """(define-type Cup {price: number})
              (define-tool (fill (cup Cup)) "Fills." cup.prize)
              (fill {price: 2})"""

    assert [each.title for each in sexplang.check(text) if each.code == "unknown-field"] == [
        "`cup` of `fill` has no field `prize`"
    ]


def test_the_arguments_of_a_call_are_held_to_the_types():
    """The error of a value that does not fit can be taken."""
    text = """(define-tool (half (n number) (by number default: 2)) "Halves." (/ n by))
              [(half 4) (half 9.0 by: 3.0) (attempt (half "4") "no")]"""

    assert sexplang.run(text) == [2, 3.0, "no"]
