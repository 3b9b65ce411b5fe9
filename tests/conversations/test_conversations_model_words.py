"""Names of models that lead nowhere are told before a program runs, which may catch what comes
later."""

import pytest
from support.command import sexplang as command

import sexplang

PROGRAM = '(defatom a (instructions "Hi") (model "fast")) (try (a) (catch (e) "plan B"))'


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fast=nonsense"], "`nonsense` does not name a model"),
        (["nonsense"], "`nonsense` does not name a model"),
        (["fast=jugde", "judge=local"], "did you mean `judge`?"),
        (["fast=judge", "judge=fast"], "leads back to itself: say which model it is"),
    ],
)
def test_a_word_that_leads_to_no_model_ends_the_run_before_it_begins(tmp_path, words, said):
    (tmp_path / "s.sexp").write_text(PROGRAM)
    options = [each for word in words for each in ("--model", word)]
    done = command("run", "s.sexp", *options, cwd=tmp_path)
    by_name = dict(word.split("=") if "=" in word else ("default", word) for word in words)
    with pytest.raises(sexplang.Failed) as failed:
        sexplang.run(PROGRAM, model=by_name)

    assert (1, "") == (done.returncode, done.stdout)
    assert said in done.stderr
    assert "does not name a model" in str(failed.value)


def test_a_word_of_a_configuration_is_looked_at_too(tmp_path):
    (tmp_path / "s.sexp").write_text(PROGRAM)
    (tmp_path / "sexplang.toml").write_text('[models]\nfast = "nonsense"\n')
    done = command("run", "s.sexp", cwd=tmp_path)

    assert (1, "") == (done.returncode, done.stdout)
    assert "`nonsense` does not name a model" in done.stderr
