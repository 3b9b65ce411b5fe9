"""What a writer brings from another language is refused with what to write in its place."""

import pytest

import sexplang

TASK = '(defatom f {params} (instructions "S {{{{x}}}} {{{{y}}}}")) (f "a")'

SAID = {
    "(try (car []) (catch (empty-list e) e.message))": (
        "unbound-name",
        "the name comes first: `(catch (e empty-list) …)`",
    ),
    '(try (car []) (catch (llm_error err) (str "bad: " err.message)))': (
        "unbound-name",
        "the name comes first: `(catch (err llm_error) …)`",
    ),
    '(try (car []) (catch (timeout e "overloaded") (map (lambda (x) e) [1])))': (
        "unbound-name",
        'the name comes first: `(catch (e timeout "overloaded") …)`',
    ),
    "(match [1 2 3] ([a &rest more] more))": (
        "malformed-form",
        "write `[a . more]`: what is left of the list stands behind a dot",
    ),
    "(match [1 2 3] ([a & more] more))": (
        "malformed-form",
        "write `[a . more]`: what is left of the list stands behind a dot",
    ),
    TASK.format(params="(params (x string) &optional (y integer))"): (
        "malformed-form",
        "a parameter that may be left out has a default: `(y integer default: value)`",
    ),
    TASK.format(params="(params x &key y)"): (
        "malformed-form",
        "a parameter that may be left out has a default: `(y string default: value)`",
    ),
    TASK.format(params="(params x &rest y)"): (
        "malformed-form",
        "a task takes no further arguments: let it take a list, `(y list)`",
    ),
}


@pytest.mark.parametrize(("program", "said"), SAID.items(), ids=list(SAID))
def test_what_to_write_is_said(program, said):
    (found,) = sexplang.check(program)

    assert said == (found.code, found.hint)


@pytest.mark.parametrize(
    "program",
    [
        "(try (car []) (catch (e empty-list) empty-list))",
        "(begin (try (car []) (catch (timeout e) 1)) e)",
        "(try (car []) (catch (e) other))",
    ],
)
def test_a_catch_is_not_blamed_for_another_name(program):
    (found,) = sexplang.check(program)

    assert "unbound-name" == found.code
    assert "comes first" not in str(found.hint)
