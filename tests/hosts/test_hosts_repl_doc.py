"""`:doc` at the prompt: what a word of the language and a macro are, and how they are written."""

from support.command import sexplang


def test_a_macro_and_a_special_form_are_explained(tmp_path):
    """What it is, its forms and its documentation; a word of a form says where it stands."""
    module = tmp_path / "m.sexp"
    module.write_text(
        "; One of two,\n; or nothing.\n(define-syntax pick (syntax-rules (from)\n"
        "  ((_ a from b) (if a a b)) ((_ a rest ...) (list a rest ...)) ((_) nil)))"
    )
    text = f""":load {module}
:doc pick
(define-syntax twice (syntax-rules () ((_ e) (begin e e))))
:doc twice
:doc loop
:doc catch
"""
    done = sexplang("repl", "--allow-read", str(tmp_path), text=text)

    pick = [
        "a macro",
        "(pick a from b)",
        "(pick a rest ...)",
        "(pick)",
        "One of two,",
        "or nothing.",
    ]
    twice = ["a macro", "(twice e)"]
    loop = [
        "a special form",
        "(loop count body…)",
        "(loop ((name e) …) body…)",
        "The body so many times, or with variables until it does not `recur`.",
    ]
    catch = ["a word of a special form", "catch"]
    assert [*pick, *twice, *loop, *catch] == done.stdout.splitlines()[:-1]
