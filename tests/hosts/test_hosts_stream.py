"""`sexplang run --stream`: the text of the last task on stdout, word by word."""

import os
import signal
import subprocess

import pytest
from support.command import SEXPLANG, sexplang
from support.markdown import ROOT
from support.messages_server import MessagesServer

import sexplang as language
from sexplang.hosts.terminal.text_output import last_tasks

TASKS = """
(defatom a (params x) (instructions "A {{x}}"))
(defatom b (params x) (instructions "B {{x}}"))
"""

REPLIES = '[{"task": "a", "reply": "one\\ntwo"}, {"task": "b", "reply": "three"}]'


def stream(tmp_path, program, *options, replies=REPLIES):
    (tmp_path / "replies.json").write_text(replies)
    model = f"--model=scripted:{tmp_path / 'replies.json'}"
    return sexplang("run", "--stream", model, *options, "-e", f"{TASKS} {program}")


def test_each_word_is_on_the_pipe_before_the_next_is_sent(tmp_path):
    words = [f"word{at} " for at in range(20)]
    read = []

    def pace(number):
        if 2 < number <= len(words) + 1:
            read.append(os.read(running.stdout.fileno(), 100).decode())

    content = [{"type": "text", "text": "".join(words), "pieces": words}]
    with MessagesServer({"paced": pace, "content": content}) as server:
        running = subprocess.Popen(
            [*SEXPLANG, "run", "--stream", f"--model={server.url}#m", "-e", f"{TASKS} (b 1)"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        with running:
            running.wait(timeout=30)
            read.append(running.stdout.read().decode().removesuffix("\n"))

    assert words == read


@pytest.mark.parametrize(
    ("program", "printed"),
    [
        ("(b (a 1))", "three\n"),
        ('(let ((x (b 1))) (if (equal? x "no") (b x) (a x)))', "three\none\ntwo\n"),
        ("(define (main) (b (a 1))) (main)", "three\n"),
        ('(str "> " (b 1))', "three\n> three\n"),
        ("(list (a 1) (b 1))", 'three\n["one\\ntwo" "three"]\n'),
        ("(length (map b [1 2]))", "three\nthree\n2\n"),
        ("(b 1) 7", "three\n7\n"),
        ("7", "7\n"),
    ],
)
def test_the_last_task_has_standard_output(tmp_path, program, printed):
    """The value follows, unless it is that text."""
    run = stream(tmp_path, program, "-q")

    assert (0, printed, "") == (run.returncode, run.stdout, run.stderr)


def test_other_texts_have_their_tasks_name_and_stand_on_stderr(tmp_path):
    run = stream(tmp_path, "(b (a 1))", "-q", "-v")

    assert ("three\n", "a: one\na: two\n") == (run.stdout, run.stderr)


def test_json_is_one_document(tmp_path):
    run = stream(tmp_path, "(b 1)", "--json")

    assert 2 == run.returncode and "leave one out" in run.stderr


def test_an_error_after_the_text_stands_on_its_own_line(tmp_path):
    run = stream(tmp_path, '(begin (b 1) (error "no"))', "-q")

    assert (1, "three\n") == (run.returncode, run.stdout) and run.stderr.startswith("error")


def test_ctrl_c_leaves_a_whole_line():
    words = [f"word{at} " for at in range(3)]

    def pace(number):
        if number == 4:
            running.send_signal(signal.SIGINT)

    content = [{"type": "text", "text": "".join(words), "pieces": words}]
    with MessagesServer({"paced": pace, "content": content, "then": "hang"}) as server:
        running = subprocess.Popen(
            [*SEXPLANG, "run", "--stream", f"--model={server.url}#m", "-e", f"{TASKS} (b 1)"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        out, err = running.communicate(timeout=30)

    assert 130 == running.returncode and out.startswith("word0 word1") and out.endswith("\n")
    assert "interrupted" in err


def test_a_reply_that_begins_again_is_told(tmp_path):
    content = [{"type": "text", "text": "three four", "pieces": ["three ", "four"]}]
    with MessagesServer({"content": content, "cut": 4}, {"content": content}) as server:
        run = sexplang("run", "--stream", f"--model={server.url}#m", "-e", f"{TASKS} (b 1)")

    assert "three four\n" == run.stdout.split("\n", 1)[1]
    assert "the reply broke off and begins again\n" in run.stderr


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("(with-timeout 5 (b 1))", {"b"}),
        ("(try (b 1) (catch (e) (a 1)))", {"b"}),
        ("(loop ((n 0)) (if (> n 3) (a n) (recur (+ n 1))))", {"a"}),
        ("(define (f n) (if (= n 0) (b n) (f (- n 1)))) (f 3)", {"b"}),
        ("(define (f) (str (a 1))) (f)", {"a", "b"}),
    ],
)
def test_the_last_task_is_found_in_the_text(program, names):
    assert names == last_tasks(language.build(f"{TASKS} {program}"))
