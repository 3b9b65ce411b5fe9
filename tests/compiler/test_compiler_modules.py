"""Imports, inputs and declared operations."""

import pytest
from support.compiling import NOWHERE, compiled, complaint, core, findings

from sexplang.compiler import compile_unit
from sexplang.expander import Expander
from sexplang.reader import read
from sexplang.terms.diagnostic import Diagnostic, Diagnostics
from sexplang.terms.source import Source
from sexplang.terms.values.value import Operation

TEXT = compiled(
    "(define width 80) (define (clean a b) a) (define-effect (ask what)) (define (_hidden) 1)",
    main=False,
).exports
MODULES = {"text.sexp": TEXT, "other.sexp": TEXT, "std/text": TEXT}
AFTER = {"modules": MODULES, "layout": (2, 2)}


def test_an_import_binds_the_public_names():
    """Values are slots of the program, functions are called directly."""
    expected = "(list width.0.1 (#0.0 1 2))"

    assert expected == core('(import "text.sexp") [width (clean 1 2)]', **AFTER)


def test_imported_names_are_reached_from_inside_functions():
    """The program's environment is the outermost."""
    text = '(import "text.sexp") (define (f) (lambda () [width clean])) (f)'

    assert "(list width.2.1 #0.2)" in core(text, **AFTER)


def test_an_import_may_stand_below_its_use():
    """All imports are loaded before anything else is compiled."""
    assert "width.0.1\nnil" == core('width (import "text.sexp")', **AFTER)


def test_the_standard_library_is_imported_by_name():
    """A name is not a path; the loader sees the text as it is written."""
    seen = []

    def load(path, span):
        seen.append((path, span.text))
        return TEXT

    forms = read(Source("x", '(import std/text) (import "a b.sexp" as: u)'))
    compile_unit(
        forms,
        name="x",
        scope={},
        load=load,
        layout=lambda: (1, 0),
        main=True,
        expander=Expander,
    )

    assert [("std/text", "std/text"), ("a b.sexp", '"a b.sexp"')] == seen


def test_a_module_may_stand_behind_one_name():
    """What it exports is reached by a path, checked like any other call."""
    text = '(import "text.sexp" as: text) [(text.clean 1 2) text.width text.width.more]'

    assert "(list (#0.0 1 2) width.0.1 (path width.0.1 more))" == core(text, **AFTER)
    assert ("wrong-arity", "(text.clean 1)") == complaint(
        '(import "text.sexp" as: text) (text.clean 1)', **AFTER
    )
    (found,) = findings('(import "text.sexp" as: text) text.widht', **AFTER)
    assert ("unbound-name", "did you mean `text.width`?") == (found.code, found.hint)


def test_the_names_of_a_pattern_are_exported():
    """Those without a leading `_`."""
    unit = compiled("(define [a _b {k: c} . d] [1 2 {k: 3}])", main=False)

    assert {"a", "c", "d"} == set(unit.exports)


def test_a_module_behind_a_name_is_a_table():
    """As a value it has all public names."""
    expected = "(call #print {ask: #ask width: width.0.1 clean: #0.0})"

    assert expected == core('(import "text.sexp" as: t) (print t)', **AFTER)


def test_an_operation_is_reached_through_its_module():
    """Performed and handled under its own name."""
    text = '(import "text.sexp" as: t) (handle (perform t.ask 1) ((t.ask w) k (forward k t.ask w)))'
    unit = compiled(text, **AFTER)

    assert "(handle (perform ask 1) ((ask w) tail (forward ask k.0.3 w.0.2)))" == core(
        text, **AFTER
    )
    assert ({"ask"}, {"ask"}) == (unit.handled, {name for name, _ in unit.performed})
    assert "wrong-arity" == complaint('(import "text.sexp" as: t) (perform t.ask)', **AFTER)[0]


def test_the_name_of_a_module_has_no_point():
    """Nothing could be said of it: `x.y.clean` is a field of a field."""
    (found,) = findings('(import "text.sexp" as: x.y) 1', **AFTER)

    assert ("malformed-form", "x.y") == (found.code, found.labels[0].span.text)


def test_a_definition_hides_an_imported_name():
    """The file's own names come first."""
    assert "(bind width 3)\nwidth.0.2" == core(
        '(import "text.sexp") (define width 3) width', **AFTER
    )


def test_the_same_name_from_two_imports_is_refused():
    """Each of them is reported where it is imported."""
    codes = {one.code for one in findings('(import "text.sexp") (import "other.sexp")', **AFTER)}

    assert {"imported-twice"} == codes
    assert () == findings('(import "text.sexp") (import "other.sexp" as: o)', **AFTER)
    assert ("imported-twice", "o") == complaint(
        '(import "text.sexp" as: o) (import "other.sexp" as: o)', **AFTER
    )


def test_a_suggestion_says_where_a_name_comes_from():
    """The import is named."""
    (found,) = findings('(import "text.sexp") (claen 1 2)', **AFTER)

    assert 'did you mean `clean`, from "text.sexp"?' == found.hint


def test_an_import_that_fails_hides_no_other_error_and_brings_no_false_one():
    """Names that it would have brought are not reported as unbound."""

    def load(path, span):
        raise Diagnostics([Diagnostic("file-not-found", "no such file")])

    forms = read(Source("x", '(import "a.sexp") (f 1) (if 1)'))
    with pytest.raises(Diagnostics) as raised:
        compile_unit(
            forms,
            name="x",
            scope={},
            load=load,
            layout=lambda: (1, 0),
            main=True,
            expander=Expander,
        )

    codes = [one.code for one in raised.value.diagnostics]
    assert ["file-not-found", "malformed-form"] == codes


def test_inputs_are_declared_in_order():
    """Each is a value of the program; what is known of it is kept for the caller."""
    unit = compiled(
        '(define-input n type: number choices: [1 2.5] doc: "How many." default: 1)'
        "(define-input text) (define-input flag default: true) (define-input data default: {})"
        "(define-input x type: file default: (str 1))"
    )

    assert [
        ("n", "number", (1, 2.5), "How many.", False, 1),
        ("text", "string", (), "", True, None),
        ("flag", "boolean", (), "", False, True),
        ("data", "json", (), "", False, {}),
        ("x", "file", (), "", False, None),
    ] == [(i.name, i.type, i.choices, i.doc, i.required, i.default) for i in unit.inputs]
    assert 6 == unit.slots


def test_only_the_main_program_has_inputs():
    """A module is not asked by anybody."""
    assert ("input-outside-main", "(define-input n)") == complaint("(define-input n)", main=False)


def test_an_effect_is_known_in_the_whole_file():
    """Its function may be used above the declaration, and declarations do not part a group."""
    text = "(define (f) (g)) (define-effect (op a)) (define (g) (op (f))) (f)"
    unit = compiled(text)

    assert "(f#0.0)\n(f#0) = (g#1.1)\n(g#1) = (call #op (f#0.1))" == core(text)
    assert ("a",) == unit.operations["op"].params
    assert isinstance(unit.exports["op"].shape, Operation)
    assert unit.exports["op"].core.value is unit.operations["op"]


def test_an_empty_file_is_a_unit():
    """It has nothing to do."""
    unit = compile_unit(
        (),
        name="e",
        scope={},
        load=lambda p, s: {},
        layout=lambda: (1, 0),
        main=True,
        expander=Expander,
    )

    assert ((), 1, {}) == (unit.items, unit.slots, unit.exports)
    assert NOWHERE.text == ""
