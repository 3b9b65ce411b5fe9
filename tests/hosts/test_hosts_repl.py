"""The interactive session: driven in a pseudo-terminal, through a pipe, and piece by piece."""

import io
import os
import re
import sys

import pexpect
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command import SEXPLANG, sexplang
from support.examples import examples
from support.markdown import ROOT

from sexplang.hosts.repl.input_lines import indentation, is_whole
from sexplang.hosts.repl.session import Session
from sexplang.hosts.settings.run_arguments import Settings


class Terminal:
    """A person at a terminal, in front of `sexplang repl`."""

    def __init__(self, home, *words):
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(home),
            "NO_COLOR": "1",
            "TERM": "xterm",
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }
        self.child = pexpect.spawn(
            SEXPLANG[0],
            [*SEXPLANG[1:], "repl", *words],
            env=environment,
            encoding="utf-8",
            timeout=60,
            dimensions=(40, 120),
        )
        self.expect("Ctrl-D leaves")
        self.ready()

    def type(self, keys):
        self.child.send(keys)

    def expect(self, text):
        self.child.expect_exact(text)

    def ready(self):
        """Waits for a fresh prompt: it tells of pasting, and then where the cursor is."""
        self.child.expect(r"\x1b\[\?2004h.*?\x1b\[\?25h")

    def enter(self, line, shown):
        """Types keys that end an input, and waits for what it gives."""
        self.type(line + "\r")
        self.shows(shown)
        self.ready()

    def shows(self, text):
        """Waits until the input is taken, and then for a text: what is typed may hold it too."""
        self.child.expect(r"\x1b\[\?2004l.*?" + re.escape(text))

    def leave(self):
        self.type("\x04")
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def open_terminal(*words):
        opened.append(Terminal(tmp_path, *words))
        return opened[-1]

    yield open_terminal
    for each in opened:
        each.child.close(force=True)


def test_a_session_in_a_terminal(terminal):
    """Definitions last, several lines make one input, an error ends nothing, names may be defined
    again, and Ctrl-D leaves with status 0."""
    person = terminal()
    person.type("(define (double x)\r")
    person.expect("…")
    person.type("(* 2 x))\r")
    person.ready()
    person.enter("(double 21)", "42")
    person.enter("(doubel 1)", "error[unbound-name]")
    person.enter("(car [])", "error[")
    person.enter("(double 4)", "8")
    person.type("(define (double x) (list x x))\r")
    person.ready()
    person.enter("(double 4)", "[4 4]")
    person.enter(":help", "What you type")

    assert 0 == person.leave()


def test_ctrl_c_stops_what_runs_and_drops_what_is_typed(terminal):
    """An endless loop is cancelled, its session goes on; so it does after half a line."""
    person = terminal()
    person.type("(define kept 7)\r")
    person.ready()
    person.type("(loop ((n 0)) (recur (+ n 1)))\r")
    person.shows("")
    person.child.expect(pexpect.TIMEOUT, timeout=1)
    person.type("\x03")
    person.expect("interrupted")
    person.ready()
    person.type("(sleep 60)\r")
    person.shows("")
    person.child.expect(pexpect.TIMEOUT, timeout=1.5)
    person.type("\x03")
    person.expect("interrupted")
    person.ready()
    person.type("(half a thought\x03")
    person.ready()
    person.enter("(+ kept 1)", "8")

    assert 0 == person.leave()


def test_tab_completes_names_of_the_session_and_of_the_language(terminal):
    """What is typed of a name is completed where one fits, also `:doc`-like orders."""
    person = terminal()
    person.type("(define (summarize-all x) (list x 'all))\r")
    person.ready()
    for typed, completed, rest, shown in [
        ("(summarize-a", "ll", " 3)", "[3 'all]"),
        ("(string-upc", "ase", ' "a")', '"A"'),
        (":he", "lp", "", "What you type"),
    ]:
        person.type(typed)
        person.expect(typed[-1])
        person.type("\t")
        person.expect(completed)
        person.enter(rest, shown)

    assert 0 == person.leave()


def test_history_is_kept_from_one_session_to_the_next(terminal, tmp_path):
    """The arrow up brings back what was typed, also in an earlier session; nobody else may read
    it."""
    first = terminal()
    first.enter("(+ 40 2)", "42")
    first.enter("\x1b[A", "42")
    first.leave()
    second = terminal()
    second.enter("\x1b[A", "42")
    second.leave()

    assert 0o600 == (tmp_path / "sexplang" / "history").stat().st_mode & 0o777


# -- Through a pipe -----------------------------------------------------------------------------


def test_a_pipe_gives_values_on_stdout_and_errors_on_stderr():
    """Forms are read from standard input; what is wrong is said, and the rest is run."""
    done = sexplang("repl", text='(define (f x)\n  (* x 2))\n(f 4) "tea"\n(nope)\n(f 5)\n')

    assert ('8\n"tea"\n10\n', 1) == (done.stdout, done.returncode)
    assert "error[unbound-name]" in done.stderr


def test_a_pipe_without_errors_ends_with_zero():
    """Nothing that was entered failed; nil shows nothing."""
    done = sexplang("repl", text="(print 1) nil\n:quit\n(nope)\n")

    assert ("1\n", "", 0) == (done.stdout, done.stderr, done.returncode)


def test_a_pipe_that_leaves_has_failed_if_anything_did():
    """As it would at the end of the text."""
    done = sexplang("repl", text="(car 5)\n:quit\n")

    assert 1 == done.returncode


def test_what_is_never_closed_is_said_at_the_end():
    """Input that ends within a bracket is entered as it is."""
    done = sexplang("repl", text="(+ 1\n")

    assert 1 == done.returncode
    assert "error[unclosed-bracket]" in done.stderr


def test_a_file_that_is_not_there_is_misuse():
    """As for every other command; a file that fails is not."""
    missing = sexplang("repl", "no-such.sexp", text="(+ 1 2)")

    assert (2, "") == (missing.returncode, missing.stdout)
    assert "error[file-not-found]" in missing.stderr and "no-such.sexp" in missing.stderr


def test_a_file_is_run_first_with_its_inputs_and_folder(tmp_path):
    """`repl FILE name=value`: what the file defines is there, and its folder may be read."""
    (tmp_path / "note.txt").write_text("hello")
    (tmp_path / "p.sexp").write_text(
        '(define-input who)\n(define (note) (read-file "note.txt"))\n(str "for " who)\n'
    )
    done = sexplang("repl", tmp_path / "p.sexp", "who=Ada", text="(note) who\n")

    assert '"for Ada"\n"hello"\n"Ada"\n' == done.stdout


def test_an_input_that_is_missing_is_given_here(tmp_path):
    """There is no command to add it to: what the hints say works."""
    (tmp_path / "p.sexp").write_text("(define-input who)\n(str who 1)\n")
    path = tmp_path / "p.sexp"
    done = sexplang("repl", text=f":load {path}\n(define-input n type: integer)\n")
    right = sexplang("repl", text=f":load {path} who=Ada\n(define n 2)\nn\n")

    assert "type :load FILE who=TEXT" in done.stderr and "to the command" not in done.stderr
    assert "type :load FILE n=3, or (define n …) in its place" in done.stderr
    assert '"Ada1"\n2\n' == right.stdout


def test_a_script_of_replies_goes_on_from_input_to_input(tmp_path):
    """The model is the same one all through a session."""
    (tmp_path / "replies.json").write_text('["one", "two"]')
    text = (
        '(defatom ask (params (q string)) (instructions "{{q}}"))\n'
        '(str (ask "a"))\n(str (ask "b"))\n'
    )
    done = sexplang("repl", "--model", f"scripted:{tmp_path}/replies.json", "--quiet", text=text)

    assert ('"one"\n"two"\n', 0) == (done.stdout, done.returncode), done.stderr


def test_it_is_said_which_model_answers_to_a_name(tmp_path):
    """As in a run, below the usage of the input."""
    (tmp_path / "replies.json").write_text('["one"]')
    text = '(defatom ask (params (q string)) (instructions "{{q}}") (model "smart"))\n(ask "a")\n'
    model = f"scripted:{tmp_path}/replies.json"
    done = sexplang("repl", "--model", f"smart={model}", text=text)

    assert ('"one"\n', 0) == (done.stdout, done.returncode), done.stderr
    assert done.stderr.endswith(f"models: smart is {model}\n")


def test_money_is_counted_as_in_a_run(tmp_path):
    """The price of a model is known by its name: a script of replies costs nothing."""
    (tmp_path / "replies.json").write_text('["one"]')
    text = '(with-budget {usd: 1} (get (model {messages: [{role: "user" content: "x"}]}) "usage"))'
    done = sexplang("repl", "--model", f"scripted:{tmp_path}/replies.json", "--quiet", text=text)

    assert ("{input_tokens: 0 output_tokens: 0}\n", 0) == (done.stdout, done.returncode)


def test_input_that_is_no_file_may_read_nothing(tmp_path):
    """Standard input is given no permission; --allow-read gives one."""
    (tmp_path / "a.txt").write_text("tea")
    text = f'(read-file "{tmp_path}/a.txt")\n'
    denied = sexplang("repl", text=text)
    allowed = sexplang("repl", "--allow-read", tmp_path, text=text)

    assert ("", 1) == (denied.stdout, denied.returncode)
    assert ('"tea"\n', 0) == (allowed.stdout, allowed.returncode)


def test_the_command_asks_for_an_input_that_is_written_as_one():
    """A word after the file that is not name=value is misuse."""
    done = sexplang("repl", "examples/one-task/summary.sexp", "oops")

    assert 2 == done.returncode
    assert "name=value" in done.stderr


# -- Piece by piece -----------------------------------------------------------------------------


def entered(*texts, session=None):
    """What a session writes for some inputs: values and what is wrong."""
    session = session or Session(Settings(), io.StringIO(), io.StringIO())
    for text in texts:
        session.enter(text)
    return session.out.getvalue().splitlines(), session.err.getvalue()


def test_functions_follow_a_name_that_is_defined_again():
    """A function that was entered means what its names mean now; a value keeps what it is."""
    shown, said = entered(
        "(define rate 2) (define (price n) (* n rate)) (define (total n) (price (+ n 1)))",
        "(define five (total 4))",
        "(define rate 3) (total 4) five",
        "(define (price n) (list n rate)) (total 4)",
    )

    assert (["15", "10", "[5 3]"], "") == (shown, said)


def test_a_bind_only_hides():
    """As in a file: functions before a `bind` keep the name's old value."""
    shown, _ = entered("(define x 1) (define (f) x)", "(bind x 2)", "(f) x")

    assert ["2", "1", "2"] == shown


def test_the_names_of_a_pattern_are_defined_and_hidden_like_others():
    """Defined again they are followed, bound again they hide."""
    shown, said = entered(
        "(define [a b] [1 2]) (define (f [x y]) (+ x y a))",
        "(bind [a] [10])",
        "(f [1 2])",
        "(define [a b] [100 b])",
        "(f [a b])",
    )

    assert (["[10]", "4"], True) == (shown[:2], "used-before-defined" in said)


def test_what_cannot_follow_keeps_its_meaning_and_that_is_said():
    """A function that does not fit the new definition is left as it is."""
    shown, said = entered(
        "(define (f a) a) (define (g) (f 1))", "(define (f a b) b)", "(g) (f 1 2)"
    )

    assert ["1", "2"] == shown
    assert "`g` keeps the meaning it had" in said and "`f` takes 2 arguments" in said


def test_a_piece_that_fails_leaves_no_trace():
    """Neither its definitions nor its imports are there afterwards."""
    shown, said = entered(
        "(begin (define a 1) (define b (car [])))", "a", "(define a 2)", "(perform nobody 1)", "a"
    )

    assert ["2"] == shown
    assert ["error[", "error[unbound-name]", "error[unknown-effect]"] == [
        word for word in ("error[", "error[unbound-name]", "error[unknown-effect]") if word in said
    ]


def test_everything_can_be_defined_at_the_prompt():
    """Effects, macros, private names, modules, tasks, and each of them again."""
    shown, said = entered(
        "(define-effect (ask q))",
        "(handle (+ 1 (ask 2)) ((ask q) k (k (* q 10))))",
        "(define-syntax twice (syntax-rules () ((_ e) (list e e))))",
        "(twice 3)",
        "(define-syntax twice (syntax-rules () ((_ e) (list e e 'again))))",
        "(twice 3)",
        "(define _hidden 5)",
        "_hidden",
        "(import std/state as: state)",
        "(state.with-state 1 (lambda () (state.put-state 8) (state.get-state)))",
        '(defatom t (params (x string)) (instructions "{{x}}"))',
        '(defatom t (params (y string)) (instructions "{{y}}"))',
        "(define list (lambda xs 'mine)) [1 2] (list 1 2)",
    )

    assert ["21", "[3 3]", "[3 3 'again]", "5", "8", "[1 2]", "'mine"] == shown
    assert "" == said


@examples(
    20,
    120,
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 9), st.sets(st.integers(0, 4)), st.booleans()),
        min_size=1,
        max_size=12,
    ),
)
def test_a_session_means_what_a_file_of_its_last_definitions_means(entries):
    """Whatever is defined again and in whatever order: functions mean the newest definitions."""
    last = {}
    texts = []
    for name, number, called, is_value in entries:
        known = [other for other in sorted(called) if other in last and other < name]
        calls = "".join(f" (f{other})" for other in known)
        body = f"(+ {number}{calls})"
        # A value is seen through a function that is defined with it.
        last[name] = f"(define v{name} {number}) (define (f{name}) (+ v{name}{calls}))"
        if not is_value:
            last[name] = f"(define (f{name}) {body})"
        texts.append(last[name])
    everything = f"[{' '.join(f'(f{name})' for name in sorted(last))}]"
    shown, said = entered(*texts, everything)
    file = [last[name] for name in sorted(last)]
    expected, _ = entered("\n".join(file), everything)

    assert ([], expected) == (said.splitlines(), shown)


@given(st.text("()[]{}'`~\"; :abdefin 1\n", max_size=30))
def test_any_text_is_answered(text):
    """What is typed gives values or errors, never another exception."""
    entered(text, f"(define (f) {text})")
    indentation(text)

    assert isinstance(is_whole(text), bool)


def test_functions_side_by_side_may_call_each_other():
    """As in a file, also when the first of them is defined again."""
    shown, said = entered(
        "(define (ev n) (if (= n 0) true (od (- n 1))))"
        "(define (od n) (if (= n 0) false (ev (- n 1))))",
        "(ev 10)",
        "(define (ev n) (if (= n 0) 'even (od (- n 1))))",
        "(ev 10) (od 11)",
    )

    assert (["true", "'even", "'even"], "") == (shown, said)


def test_undo_goes_back_and_a_file_is_read_again(tmp_path):
    """`:undo` takes back the last piece; an import of a changed file brings the change."""
    module = tmp_path / "m.sexp"
    module.write_text("(define (f) 1)\n")
    session = Session(Settings(allow_read=(str(tmp_path),)), io.StringIO(), io.StringIO())
    entered(f'(import "{module}")', "(define (g) (list (f)))", "(g)", session=session)
    module.write_text("(define (f) 2)\n")
    shown, said = entered(f'(import "{module}")', "(g)", session=session)
    assert session.undo() and session.undo()
    shown, said = entered("(g)", session=session)

    assert (["[1]", "[2]", "[1]"], "") == (shown, said)


def test_orders_tell_what_is_there():
    """`:doc`, `:effects`, `:names`, `:load`, `:undo`, `:quit`; what is no order is said."""
    text = """
(define-effect (ask question) "a person answers")
(define (twice x) "Asks two times." (list (ask x) (ask x)))
:doc twice
:doc ask
:doc nowhere
:effects (begin (twice 3) (now))
:effects (twice)
:names
:nowhere
:load
:undo
:names
:undo
:undo
:quit
(never)
"""
    done = sexplang("repl", text=text)
    shown = done.stdout.splitlines()

    assert ["(twice x)", "Asks two times.", "(ask question)", "a person answers"] == shown[:4]
    assert ["it performs ask, now; at most 0 model calls", "ask", "twice", "ask"] == shown[4:]
    for words in (
        "nothing here is called `nowhere`",
        "error[wrong-arity]",
        "there is no `:nowhere`",
        "name a file",
        "nothing to undo",
    ):
        assert words in done.stderr


def test_closures_and_continuations_outlive_their_input():
    """A value of an earlier piece runs in what that piece had."""
    shown, said = entered(
        "(define-effect (pause))",
        "(define k (handle (begin (define seen (pause)) (list 'seen seen)) ((pause) k k)))",
        "(k 1) (k 2)",
        "(define adders (map (lambda (n) (lambda (x) (+ x n))) [1 10]))",
        "((nth adders 1) 5)",
    )

    assert (["['seen 1]", "['seen 2]", "15"], "") == (shown, said)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("(+ 1 2)", True),
        ("(+ 1", False),
        ('"a', False),
        ('"""a\n', False),
        ("#| a", False),
        ("'", False),
        ("(quote ')", True),
        (")", True),
        ("(a [b)", True),
        ("(+ 1 007", True),
        (":help", True),
        ("; only words", True),
        ("", True),
    ],
)
def test_a_text_is_whole_when_nothing_waits(text, whole):
    """An open bracket, string, comment or mark waits for more; what is wrong does not."""
    assert whole == is_whole(text)


@pytest.mark.parametrize(
    ("text", "column"),
    [("(define (f x)", 2), ("[1", 1), ("  {a: (g", 8), ("(f 1)", 0), ('(f "a', 0), ("(f ; )", 2)],
)
def test_the_next_line_begins_below(text, column):
    """Two further in than the open call, one further than an open list or table."""
    assert column == indentation(text)


def test_a_terminal_without_prompt_toolkit_is_enough():
    """The session says what is missing and reads lines as they come."""
    code = (
        "import sys; sys.modules['prompt_toolkit'] = None\n"
        "from sexplang.hosts import main\nsys.exit(main(['repl']))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1", "TERM": "dumb"}
    child = pexpect.spawn(
        sys.executable, ["-c", code], env=environment, encoding="utf-8", timeout=60
    )
    child.expect_exact("pip install 'sexplang[repl]'")
    child.expect("> ")
    child.send("(+ 1\r")
    child.expect("… ")
    child.send("2)\r")
    child.expect("\n3\r\n> ")
    child.send("\x04")
    child.expect(pexpect.EOF)
    child.close()

    assert 0 == child.exitstatus
