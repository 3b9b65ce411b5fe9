"""What a clause does with its continuation, read from its resolved text."""

import pytest
from support.compiling import compiled, complaint, findings

from sexplang.terms.core import Core, Handle

NESTED_KEEPS = "((print v) q (lambda (s) (q s)))"

KINDS = [
    ("1", "never"),
    ("(let ((k 1)) k)", "never"),
    ("(k 1)", "tail"),
    ("(if 1 (k 1) (k 2))", "tail"),
    ("(begin (define x 1) (cond (1 (k x)) (else 2)))", "tail"),
    ("(loop ((i 0)) (if i (k i) (recur 1)))", "tail"),
    ("(forward k model 1)", "tail"),
    ("(when 1 (forward k print p))", "tail"),
    ("(and 1 (k 1))", "tail"),
    ("(list (k 1) (k 2))", "calls"),
    ("(begin (k 1) 2)", "calls"),
    ("(loop 2 (k 1))", "calls"),
    ("(k (k 1))", "calls"),
    ("(if (k 1) (k 1) 2)", "calls"),
    ("(abandon k)", "calls"),
    ("(try (k 1) (catch (e) 2))", "calls"),
    ("(try 1 (finally (k 1)))", "calls"),
    ("(attempt (k 1))", "calls"),
    ("(handle (k 1) ((print v) q (q v)))", "calls"),
    ("(handle 1 ((print v) q (k v)))", "calls"),
    ("(let ((x (k 1))) x)", "calls"),
    ("k", "kept"),
    ("[k]", "kept"),
    ("{a: k}", "kept"),
    ("`(1 ~k)", "kept"),
    ("k.field", "kept"),
    ("(k k)", "kept"),
    ("(lambda () (k 1))", "kept"),
    ("(lambda (s) ((k s) s))", "kept"),
    ("(let () (define (f) (k 1)) (f))", "kept"),
    ("(let go ((i 0)) (k i))", "kept"),
    ("(par (k 1) 2)", "kept"),
    ("(par (abandon k))", "kept"),
    ("(let ((abandon list)) (abandon k))", "kept"),
    (f"(handle (k 1) {NESTED_KEEPS})", "kept"),
    (f"(handle (handle (k 1) ((model x) j (j 1))) {NESTED_KEEPS})", "kept"),
    (f"(begin (handle 1 {NESTED_KEEPS}) (k 1))", "tail"),
    (f"(k (handle 1 {NESTED_KEEPS}))", "tail"),
    ("(map k [1])", "kept"),
]


def kinds(core: Core) -> list[str]:
    assert isinstance(core, Handle)
    return [clause.kind for clause in core.clauses]


@pytest.mark.parametrize(("body", "kind"), KINDS)
def test_kind(body, kind):
    """never: no mention; tail: tail calls and forwards; calls: only called; kept: the rest."""
    unit = compiled(f"(handle 1 ((model p) k {body}))")

    assert [kind] == kinds(unit.items[0])


def test_names_are_resolved_before_they_count():
    """An inner k is not the outer one."""
    unit = compiled("(handle 1 ((model p) k (handle 1 ((model p) k [k]))))")

    assert ["never"] == kinds(unit.items[0])


def test_a_continuation_without_a_name_is_never_used():
    """`_` binds nothing."""
    assert ["never"] == kinds(compiled("(handle 1 ((model _) _ 1))").items[0])


@pytest.mark.parametrize(
    "body",
    [
        "(list (forward k model 1))",
        "(lambda () (forward k model 1))",
        "(try (forward k model 1) (catch (e) 1))",
        "(par (forward k model 1))",
        "(loop 1 (forward k model 1))",
        "(let go () (forward k model 1))",
        "(handle 1 ((print v) q (forward k model 1)))",
    ],
)
def test_forward_stands_in_tail_position_of_its_own_clause(body):
    """Elsewhere something would still be to do after the request is handed on."""
    found = complaint(f"(handle 1 ((model p) k {body}))")

    assert ("forward-misplaced", "(forward k model 1)") == found


@pytest.mark.parametrize(
    ("body", "clause", "warned"),
    [
        ("(try (model 1) (finally 2))", "(lambda () (k 1))", True),
        ("(list (par 1))", "k", True),
        ("(model 1)", "k", False),
        ("(try (model 1) (finally 2))", "(k 1)", False),
        ("(try (model 1) (catch (e) 2))", "k", False),
    ],
)
def test_a_kept_scope_is_worth_a_warning(body, clause, warned):
    """Only where the clause keeps and the body holds a `finally` or a `par`."""
    unit = compiled(f"(handle {body} ((model p) k {clause}))")

    assert warned == ("kept-scope" in [warning.code for warning in unit.warnings])


def test_operations_are_collected():
    """What is handled, and what is performed by name, is checked over all units."""
    text = "(handle (perform a 1) ((b) k (forward k c)) ((error e) k 1)) (try 1 (catch (e) 2))"
    unit = compiled(text)

    assert frozenset(["b", "error"]) == unit.handled
    assert [("a", "a"), ("c", "c")] == [(name, span.text) for name, span in unit.performed]
    assert () == findings(text)
