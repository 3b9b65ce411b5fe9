"""Tests written in the language: what they see, what fails them, and how that is shown."""

import itertools
import json
import os
import subprocess

import pytest
from support.command import SEXPLANG, sexplang
from support.markdown import ROOT, fences

from sexplang.hosts.terminal.show import show
from sexplang.hosts.testing import collect, run_test
from sexplang.hosts.testing.samples import Account, sample
from sexplang.terms.diagnostic import Diagnostics
from sexplang.terms.source import Source

EXAMPLES = sorted(ROOT.glob("examples/*/*.test.sexp"))
CHAPTER = ROOT / "spec/09e-tests.md"


def results(text, name="some.test.sexp"):
    """The results of a file's tests."""
    return [run_test(test) for test in collect(Source(name, text))]


def findings(text):
    """What is found of the single test in a text, rendered."""
    (result,) = results(text)
    return "\n".join(show(each) for each in result.findings)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_tests_of_an_example_pass(path):
    """Each example has tests, and they hold."""
    source = Source(str(path), path.read_text(encoding="utf-8"))

    assert [()] * len(collect(source)) == [run_test(test).findings for test in collect(source)]


def test_each_example_has_tests():
    """Each folder with a program has a file of tests."""
    programs = {path.parent for path in ROOT.glob("examples/*/*.sexp")}

    assert programs == {path.parent for path in EXAMPLES}


def named_blocks():
    """The files of the chapter, and of its files of tests the report that follows, if one does."""
    blocks = list(fences(CHAPTER.read_text(encoding="utf-8")))
    files = {block.name: block.text for block in blocks if block.name}
    reports = {
        block.name: after.text
        for block, after in itertools.pairwise(blocks)
        if block.name and after.kind == "text" and after.text.startswith("FAILED")
    }
    return files, reports


FILES, REPORTS = named_blocks()


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".test.sexp")])
def test_the_chapter_is_true(name, tmp_path):
    """The tests that the chapter shows pass, or fail with the report below them."""
    for file, text in FILES.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    done = sexplang("test", name, cwd=tmp_path)
    report, _, summary = done.stdout.rstrip("\n").rpartition("\n")

    assert REPORTS.get(name, "").strip() == report.strip()
    assert ("failed" in summary, bool(done.returncode)) == ((name in REPORTS),) * 2


def test_a_test_sees_nothing_but_its_script():
    """Whatever the host would answer is a failure of the test unless it is scripted."""
    for call in (
        '(read-file "a.txt")',
        '(list-files "*")',
        '(write-file "a.txt" "x")',
        "(now)",
        "(random)",
        "(sleep 1)",
        '(ask-user "Name?")',
        "(perform model {messages: []})",
        '(run-script "ls")',
        '(tool "t" {})',
        '(search-memory "x")',
    ):
        shown = findings(f'(test "t" {call})')

        assert "error[unscripted-request]" in shown and "asked here" in shown, shown


def test_tests_share_what_stands_beside_them_and_nothing_else():
    """A definition in one test is not there in the next, and files that are written are its own."""
    first, second, third = results(
        """
        (define shared 1)
        (test "a" (define own 2) (write-file "x" "1") (+ own shared) files: {} expect: 3)
        (test "b" (+ own shared) expect: 3)
        (test "c" (read-file "x") files: {} error: "file-not-found")
        """
    )

    assert [True, False, True] == [each.is_success for each in (first, second, third)]
    assert "unbound-name" == second.findings[0].code


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(test)", "the test's name"),
        ("(test name 1)", "the test's name"),
        ('(test "t")', "has no program"),
        ('(test "t" 1 expect:)', "the label `expect:` has no value"),
        ('(test "t" 1 expects: 3)', "no `expects:`"),
        ('(test "t" 1 expect: 3 expect: 4)', "there already"),
        ('(test "t" 1 script: {})', "`script:` takes a list"),
        ('(test "t" 1 inputs: 3)', "`inputs:` takes a table"),
        ('(define f {}) (test "t" 1 files: f)', "write it out here"),
        ('(test "t" 1 file: "x.sexp")', "not both"),
        ('(test "t" 1 expect: 1) (test "t" 2 expect: 2)', "two tests"),
        ('(test "t" 1', "never closed"),
    ],
)
def test_a_test_that_is_not_written_as_one_is_refused(text, words):
    """A diagnostic at its place says what to write."""
    with pytest.raises(Diagnostics) as refused:
        collect(Source("some.test.sexp", text))

    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('(test "t" 1 script: [3])', "a script holds exchanges"),
        ('(define r {reply: "x"}) (test "t" 1 script: [r])', "put the rules into a file"),
        ('(test "t" 1 script: [[3 4]])', "a script holds exchanges"),
        ('(test "t" 1 script: [{reply: 3}])', "not a reply"),
        ('(test "t" 1 script: [{reply: "x" contans: "y"}])', "contans"),
        ('(test "t" 1 replies: "nowhere.json")', "cannot be read"),
        ('(test "t" file: "nowhere.sexp")', "there is no `nowhere.sexp`"),
        ('(test "t" 1 files: {a: 3})', "files are texts"),
        ('(test "t" 1 expect: (car []))', "this fails"),
        ('(test "t" 1 expect: (now))', "nobody answers here"),
        ('(test "t" 1 expect: nowhere)', "nothing here is called `nowhere`"),
        ('(test "t" 1 error: 3)', "error:"),
        ('(test "t" 1 requests: [now])', "a request is written"),
        ('(test "t" 1 prints: 3)', "what is printed is a text"),
        ('(test "t" 1 inputs: {who: 3})', "no input called `who`"),
        ('(test "t" 1 match: (? 1))', "(? predicate pattern)"),
        ('(test "t" 1 inputs: {n: (car [])})', "empty list"),
    ],
)
def test_what_is_wrong_in_a_test_fails_it(text, words):
    """A test that cannot be played says why; the others run."""
    assert words in findings(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('(test "t" true expect: 1)', "given    true"),
        ('(test "t" [1 nil] match: [_])', "given [1 nil]"),
        ('(test "t" 3 error: "no-match")', "the value is 3"),
        ('(test "t" (car []) error: no-match)', "error[empty-list]"),
        ('(test "t" (raise "x") error: ["raised" "y"])', "says something else"),
        ('(test "t" (cra []) error: "empty-list")', "error[unbound-name]"),
        ('(test "t" 1 script: [[(now) 3]])', "ends without asking this"),
        ('(test "t" (print 1) prints: "2")', 'given    "1"'),
        ('(test "t" (list-files ["find"]) files: {a: ""})', "asks for `list-files`"),
        ('(test "t" (now) script: [[(now) 3]] requests: [])', "given    (now)"),
        ('(test "t" 1 requests: [(now)])', "given    no more requests"),
        ('(test "t" (loop ((x 1)) (recur x)))', "limit-steps"),
        ('(test "t" (lambda (x) x) expect: 1)', "given    #<function"),
    ],
)
def test_an_expectation_that_is_not_met_shows_both_sides(text, words):
    """What was expected stands at its place, what was given below it."""
    assert words in findings(text)


@pytest.mark.parametrize("program", ["(cra [])", "(raise 'unbound-name)"])
def test_of_a_program_that_fails_as_expected_no_value_is_looked_for(program):
    """There is none, whether it was refused or has failed."""
    assert "" == findings(f'(test "t" {program} error: "unbound-name" expect: 1 match: _)')


def test_numbers_compare_as_equal_does():
    """1 is 1.0 and not true; a TaskResult is its text; a table has no order."""
    passed = results(
        """
        (defatom t (instructions "x"))
        (test "a" 1 expect: 1.0)
        (test "b" {a: 1 b: 2} expect: {b: 2 a: 1})
        (test "c" (t) script: [[(model) "text"]] expect: "text")
        (test "d" ['a "a"] expect: (list 'a "a"))
        """
    )

    assert [()] * 4 == [each.findings for each in passed]


def test_of_long_values_only_what_differs_is_shown():
    """A table of a thousand entries gives a few lines."""
    shown = findings(
        '(test "t" (map (lambda (n) {number: n}) (range 1000))'
        " expect: (map (lambda (n) {number: (if (= n 500) 0 n)}) (range 1000)))"
    )

    assert "- is expected, + is given" in shown
    assert 12 > shown.count("\n")
    assert "{number: 0}" in shown and "{number: 500}" in shown and "{number: 999}" not in shown


@pytest.mark.parametrize("more", ["", " tea" * 40, "\\nanother line" * 20])
def test_what_looks_the_same_is_shown_apart(more):
    """One letter in two encodings, a space that does not break."""
    shown = findings(f'(test "t" "cafe\u0301 x{more}" expect: "caf\u00e9\u00a0x{more}")')

    assert "caf\\u00e9\\u00a0x" in shown and "cafe\\u0301 x" in shown


def test_a_deep_test_is_no_trouble():
    """Forms and values may be nested as deep as anywhere."""
    deep = "[" * 5_000 + "]" * 5_000
    (passed,) = results(f'(test "t" {deep} expect: {deep} requests: [])')
    shown = findings(f'(define-effect (ask x)) (test "t" (ask 1) script: [[(ask {deep}) 1]])')

    assert passed.is_success
    assert "unscripted-request" in shown


def test_programs_import_what_lies_beside_them(tmp_path):
    """A test's own imports, and those of its file, are found from where they stand."""
    (tmp_path / "lib.sexp").write_text("(define (f) 3)\n")
    (tmp_path / "main.sexp").write_text('(import "lib.sexp") (f)\n')
    text = '(import "lib.sexp") (test "a" (f) expect: 3) (test "b" file: "main.sexp" expect: 3)'
    path = tmp_path / "x.test.sexp"

    assert [True, True] == [each.is_success for each in results(text, str(path))]


def test_a_folder_that_is_imported_leaves_its_tests_out(tmp_path):
    """Tests are no modules."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.sexp").write_text("(define (f) 3)\n")
    (tmp_path / "lib" / "a.test.sexp").write_text('(test "t" 1)\n')
    (tmp_path / "main.sexp").write_text('(import "lib") (f)\n')
    done = sexplang("run", tmp_path / "main.sexp")

    assert ("3\n", "") == (done.stdout, done.stderr)


# -- The command --------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.test.sexp").write_text('(test "one" 1 expect: 1)\n(test "two" 2 expect: 3)\n')
    (tmp_path / "deep" / "b.test.sexp").write_text('(test "three" 3 expect: 3)\n')
    (tmp_path / "c.sexp").write_text("not a test (")
    return tmp_path


def test_the_command_counts_and_fails(folder):
    """All files of tests below a folder are run; the last line counts, and one failure is 1."""
    done = sexplang("test", folder)
    *_, summary = done.stdout.splitlines()

    assert 1 == done.returncode
    assert summary.startswith("2 passed, 1 failed in ") and summary.endswith(" s")
    assert "FAILED two" in done.stdout and "" == done.stderr


def test_names_choose_tests(folder):
    """-k runs those whose names hold the text; where there is none, that is no success."""
    chosen = sexplang("test", "-k", "e", folder / "a.test.sexp", folder / "deep")
    none = sexplang("test", "-k", "nothing", folder)

    assert (0, "2 passed") == (chosen.returncode, chosen.stdout[:8])
    assert (1, "no tests\n") == (none.returncode, none.stdout)


def test_json_is_one_document(folder):
    """--json gives every test with its place and what was found."""
    done = sexplang("test", "--json", folder)
    report = json.loads(done.stdout)
    failed = [each for each in report["tests"] if not each["passed"]]

    assert (2, 1, 1) == (report["passed"], report["failed"], done.returncode)
    assert [("two", 2)] == [(each["name"], each["line"]) for each in failed]
    assert "test-failed" == failed[0]["findings"][0]["code"]


def test_a_file_that_is_not_understood_is_told_and_the_others_run(folder):
    """The diagnostic stands in the report; the status is 1."""
    (folder / "bad.test.sexp").write_text('(test "x" 1 expects: 2)')
    done = sexplang("test", folder)

    assert "error[bad-test]" in done.stdout
    assert "2 passed, 1 failed, 1 not understood in" in done.stdout


def test_dots_are_for_terminals(folder):
    """On a terminal each test shows as it ends; no model, no key, no network are needed."""
    leader, follower = os.openpty()
    command = [*SEXPLANG, "test", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, stdout=subprocess.PIPE, stderr=follower, env=environment, check=False)
    os.close(follower)
    shown = os.read(leader, 100)
    os.close(leader)

    assert b".F.\r\n" == shown


def test_check_reads_tests_as_tests(folder):
    """`check` finds what is wrong with how they are written and with their programs."""
    (folder / "d.test.sexp").write_text(
        '(test "x" (nope) expect: 2)\n(test "y" (nope) error: unbound-name)\n'
    )
    good = sexplang("check", folder / "a.test.sexp")
    bad = sexplang("check", folder / "d.test.sexp")

    assert (0, 1) == (good.returncode, bad.returncode)
    assert 1 == bad.stderr.count("error[unbound-name]")


def test_a_test_that_fails_shows_the_calls_that_its_program_failed_in():
    """As the command shows them."""
    text = '(test "one" (define (f x) (nth x 9)) (define (g y) (+ 1 (f y))) (g [1]) expect: 1)'
    said = findings(text)

    assert "= calls: `f` at some.test.sexp:1:27" in said and "`g` at" in said
    assert "= values: x = [1]" in said


SAMPLED = """
(defatom colour (params (of string)) (instructions "What colour has {{of}}?")
  (returns (one-of "red" "blue")))
(define-effect (place))
(test "the sky" (colour "the sky") script: [{reply: "blue"}] expect: "blue")
(test "blood" (colour (place)) script: [[(place) "blood"] [(model _) "red"]] expect: "red")
(test "no model" (+ 1 1) expect: 2)
"""


def sampled(tmp_path, *more, samples=4):
    """The report of samples, whose model takes blood for red once."""
    file, replies = tmp_path / "colour.test.sexp", tmp_path / "replies.json"
    file.write_text(SAMPLED)
    rules = [{"contains": "blood", "times": 1, "reply": "red"}, {"reply": "blue"}]
    replies.write_text(json.dumps(rules))
    words = ["test", file, "--samples", samples, "--model", f"scripted:{replies}", *more]
    return sexplang(*map(str, words))


def test_samples_report_how_often_each_test_passes(tmp_path):
    done = sampled(tmp_path, "--json")
    found = json.loads(done.stdout)

    assert 1 == done.returncode
    rows = [(each["name"], each["successes"], each["samples"]) for each in found["tests"]]
    assert rows == [("the sky", 4, 4), ("blood", 1, 4), ("no model", 1, 1)]
    assert [each["passed"] for each in found["tests"]] == [True, False, True]
    assert found["tests"][1]["interval"] == [0.0456, 0.6994]
    assert found["tests"][1]["findings"][0]["code"] == "test-failed"
    assert (found["passed"], found["failed"]) == (2, 1)
    assert (found["usage"]["calls"], found["usage"]["usd"]) == (8, 0)


def test_samples_are_shown_with_their_first_failure(tmp_path):
    done = sampled(tmp_path, "--at-least", 0.25)

    assert 0 == done.returncode
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["4", "of", "4", "51", "to", "100", "%", "the", "sky", ANYTHING]
    assert 1 == done.stdout.count("error[test-failed]")
    assert "8 model calls" in lines[-1]


ANYTHING = type("Anything", (), {"__eq__": lambda *_: True, "__hash__": None})()


def test_a_budget_ends_the_samples(tmp_path):
    """All tests are run once before any is run again; the sample that it cuts off counts not."""
    found = json.loads(sampled(tmp_path, "--budget", "calls=3", "--json").stdout)

    assert [each["samples"] for each in found["tests"]] == [2, 1, 1]
    assert "calls" == found["usage"]["spent"]
    done = sampled(tmp_path, "--budget", "calls=1")
    assert 1 == done.returncode
    assert "0 of 0" in done.stdout
    assert "the budget is spent: calls" in done.stdout


def test_samples_that_ended_are_reported_after_an_interruption():
    """The one that it cuts off counts not."""
    text = '(defatom a (instructions "A")) (test "a" (a)) (test "b" (a))'
    asked = []

    def answer(request):
        asked.append(request)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return "b"

    account = Account({}, lambda *_: 0.0)
    rates, is_cut = sample(collect(Source("some.test.sexp", text)), 9, answer, account)
    assert ([2, 1], True) == ([len(rate.results) for rate in rates], is_cut)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--samples", "3"], "samples need a model"),
        (["--budget", "calls=3"], "a budget is for samples"),
        (["--samples", "0", "--model", "local"], "0 is not in the range"),
        (["--samples", "2", "--model", "local", "--budget", "call=3"], "no bound of a budget"),
    ],
)
def test_what_samples_need(tmp_path, words, said):
    file = tmp_path / "colour.test.sexp"
    file.write_text(SAMPLED)
    done = sexplang("test", file, *words)

    assert 2 == done.returncode
    assert said in done.stderr
