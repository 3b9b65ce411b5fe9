"""Forms that other languages write in another way: they mean what they say, or the way to write
them is told."""

import pytest
from support.sources import no_files

import sexplang
from sexplang.pipeline.pipeline import build
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(try (raise 'oops) (catch (e oops) e.reason))", "oops"),
        ("(try (raise 'oops) (catch (e) [e.type e.message]))", ["USER_ERROR", "oops"]),
        ("(define (stop why) (raise why)) (try (stop 'oops) (catch (e oops) 1))", 1),
        ('(try (raise {type: "x" message: "m"}) (catch (e x) e.message))', "m"),
        ('(try (raise {reason: "x" message: "m"}) (catch (e x) e.message))', "m"),
        ("(try (raise 7) (catch (e raised) e.details.value))", 7),
        ("(try (raise {a: 1}) (catch (e raised) e.details.value.a))", 1),
        ("(try (raise 'oops) (catch (e closed) 1) (catch (e full oops) 2))", 2),
        ("(try (first []) (catch (e division-by-zero empty-list) 2))", 2),
        ("(attempt (raise 'oops) 3)", 3),
    ],
)
def test_an_error_is_caught_by_its_words(text, expected):
    assert expected == sexplang.run(text)


@pytest.mark.parametrize(
    "text",
    [
        '(define (f x) (cond ((equal? x "a") 1) (true 2))) [(f "a") (f "b")]',
        '(define (f x) (cond ((equal? x "a") 1) (#t 2))) [(f "a") (f "b")]',
    ],
)
def test_true_at_the_end_of_a_cond_is_else(text):
    program = build(Source("program", text), no_files)

    assert ([1, 2], []) == (sexplang.run(program), sexplang.check(text))


@pytest.mark.parametrize(
    ("text", "part", "hint"),
    [
        ("(match [1 2] ([a & more] more))", "&", "write `[a . more]`"),
        ("(match [1 2] ([a {b: c} & _] c))", "&", "write `[a {b: c} . _]`"),
        ("(define (f x &optional y) x) (f 1)", "&optional", "`(y default)`"),
        ("(define (f x &key y z) [x y z]) (f 1 z: 2)", "&key", "`(y default)`"),
        ("(map (lambda (x &rest more) more) [1])", "&rest", "write `. more`"),
        ("(define (f x & more) more) (f 1 2 3)", "&", "write `. more`"),
        ('(case "b" ("a" 1) (_ 2))', "_", "write `else`"),
        ('(case "b" ("a" 1) (default 2))', "default", "write `else`"),
        ('(case "b" ("a" 1) (otherwise 2))', "otherwise", "write `else`"),
    ],
)
def test_the_way_to_write_it_is_told(text, part, hint):
    """One error, at the word that has another meaning here."""
    with pytest.raises(Diagnostics) as found:
        build(Source("program", text), no_files)

    (diagnostic,) = found.value.diagnostics
    assert ("malformed-form", part) == (diagnostic.code, diagnostic.labels[0].span.text)
    assert hint in diagnostic.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(case 'default ((default) 1) (else 2))", 1),
        ("(case 'default (default 1) (else 2))", 1),
        ("(case 'a ((default other) 1) (else 2))", 2),
        ("(match ['& 1] (['& x] x))", 1),
        ("(define (f x (y nil)) [x y]) (f 1)", [1, None]),
    ],
)
def test_who_means_the_symbol_may_write_it(text, expected):
    assert expected == sexplang.run(text)
