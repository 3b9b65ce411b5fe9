"""A person at a terminal who is asked by a program."""

import os
import re

import pexpect
import pytest
from support.command import SEXPLANG, sexplang
from support.markdown import ROOT


def begun(*words, **environment):
    """A command at a terminal that does not echo."""
    return pexpect.spawn(
        SEXPLANG[0],
        [*SEXPLANG[1:], *map(str, words)],
        cwd=str(ROOT),
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "NO_COLOR": "1"} | environment,
        encoding="utf-8",
        timeout=60,
        echo=False,
        dimensions=(40, 100),
    )


def ended(child):
    """What a command writes from here on, and its status."""
    text = child.read()
    child.close()
    return text.replace("\r\n", "\n"), child.exitstatus


def test_a_line_is_the_answer():
    """As it is typed."""
    child = begun("run", "-e", '(str "Hello, " (ask-user "Who is there?") "!")')
    child.expect_exact("Who is there?\r\n? ")
    child.sendline("Åse  Ø")

    assert ("Hello, Åse  Ø!\n", 0) == ended(child)


@pytest.mark.parametrize(
    ("typed", "answer"), [("large", "large"), ("2", "large"), ("1", "small"), ("7", "7")]
)
def test_a_choice_is_typed_or_its_number(typed, answer):
    """A choice that is itself a number goes first; anything else is asked again."""
    child = begun("run", "-e", '(ask-user "How large?" ["small" \'large 7])')
    child.expect_exact("How large?\r\n  1 small\r\n  2 large\r\n  3 7\r\n? ")
    for wrong in ("huge", "0", "4", "²", ""):
        child.sendline(wrong)
        child.expect_exact("One of these, or a number from 1 to 3.\r\n? ")
    child.sendline(typed)

    assert (f"{answer}\n", 0) == ended(child)


def test_questions_come_one_after_the_other():
    """From branches that run side by side, while the clock goes on."""
    branches = '(ask-user "A?") (ask-user "B?") (begin (sleep 0.1) "slept")'
    child = begun("run", "-e", f"(par {branches})")
    child.expect_exact("A?\r\n? ")
    child.sendline("one")
    child.expect_exact("B?\r\n? ")
    child.sendline("two")

    text, status = ended(child)
    drawn = re.sub(r"\x1b\[\?25[lh]", "", text)  # progress may have been drawn, and erased
    assert ('["one" "two" "slept"]\n', 0) == (drawn, status)


def test_what_is_shown_cannot_command_the_terminal():
    """A model may have written the question."""
    child = begun("run", "-e", '(ask-user "a\\u001b[2Jb")')
    child.expect_exact("a␛[2Jb\r\n? ")
    child.sendline("x")

    assert ("x\n", 0) == ended(child)


def test_who_ends_the_input_gives_no_answer():
    """The program may catch that, and a deadline ends a question."""
    child = begun("run", "-e", '(try (ask-user "Tea?") (catch (err no-answer) err.message))')
    child.expect_exact("? ")
    child.sendeof()
    assert ("\n`ask-user`: the person gave no answer\n", 0) == ended(child)

    child = begun("run", "-e", '(try (with-timeout 0.3 (ask-user "Tea?")) (catch (err seconds) 1))')
    child.expect_exact("? ")
    assert ("1\n", 0) == ended(child)


def test_ctrl_c_ends_a_question():
    """As it ends anything that waits; `finally` bodies run."""
    child = begun("run", "-e", '(try (ask-user "Tea?") (finally (print "left")))')
    child.expect_exact("? ")
    child.sendintr()
    text, status = ended(child)

    assert (130, True) == (status, "left\n" in text)


def test_the_prompt_asks_too(tmp_path):
    """Between inputs the terminal is the session's."""
    child = begun("repl", XDG_STATE_HOME=str(tmp_path), PROMPT_TOOLKIT_NO_CPR="1")
    child.expect_exact("Ctrl-D leaves")
    child.expect(r"\x1b\[\?2004h.*?\x1b\[\?25h")
    child.send('(string-length (ask-user "Word?"))\r')
    child.expect_exact("Word?\r\n? ")
    child.sendline("abc")
    child.expect_exact("3\r\n")
    child.expect(r"\x1b\[\?2004h.*?\x1b\[\?25h")
    child.send("\x04")
    child.expect(pexpect.EOF)
    child.close()

    assert 0 == child.exitstatus


@pytest.mark.parametrize("words", [["run", "-e", '(ask-user "Tea?")'], ["repl"]])
def test_nobody_is_asked_without_a_terminal(words):
    """The code says so, and the hint what to do."""
    done = sexplang(*words, text='(ask-user "Tea?")')

    assert (1, "") == (done.returncode, done.stdout)
    assert "error[no-answer]: `ask-user`: nobody is there to answer: Tea?" in done.stderr
    assert "run it at a terminal" in done.stderr


def test_choices_are_a_list():
    """Refused before anybody is asked."""
    child = begun("run", "-e", '(ask-user "How large?" "small")')

    assert "error[wrong-type]: `ask-user` takes a list of choices" in ended(child)[0]
