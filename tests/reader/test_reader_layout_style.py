"""How programs look: each text here is laid out as it stands."""

import pytest
from support.markdown import ROOT, fences

from sexplang.reader import format_text

LAID_OUT = {
    "what fits stands on one line": """\
(define (square x) (* x x))
""",
    "a function with several body forms is broken after its parameters": """\
(define (line-for path)
  (bind document (read-file path))
  (format "~a" document))
""",
    "parameters that do not fit fill their lines": """\
(define (call-atomic-task task (inputs {}) (file_paths nil) (context_management nil)
          (previous_outputs nil) (subtype nil))
  (run task inputs))
""",
    "arguments stand below one another": """\
(string-append "a text that is long enough" "another that is long enough"
""".replace(' "another', '\n               "another').rstrip()
    + '\n               "and a third that is needed to make it too long for a line")\n',
    "labels stand two columns in, behind what goes by position": """\
(call-atomic-task (match-task request)
  inputs: (or request.inputs {})
  subtype: (or request.subtype "subtask")
  file_paths: request.file_paths)
""",
    "an if has its branches below its test": """\
(if (or verdict.parsed_content.success (= turn turns))
    draft
    (recur (+ turn 1) verdict.parsed_content.feedback))
""",
    "clauses stand below one another": """\
(cond ((string-contains? request.description "secret") "no")
      ((> request.depth 2) "too deep")
      (else "yes"))
(case (get-in reply ["content" 0 "type"])
  (("text" "thinking") "words")
  (else "something else entirely"))
""",
    "a handler has its clauses two columns in": """\
(handle (report topic)
  ((subtask request) resume
    (log "info" (str "asked for: " request.description))
    (forward resume subtask request))
  (return result {result: result}))
""",
    "what is handled goes further in where it does not fit": """\
(handle
    (handle (ask "a")
      ((ask question) resume (forward resume ask (str question "!"))))
  ((ask question) resume (resume question)))
""",
    "bindings stand below one another": """\
(let ((first-document (read-file "documents/first.txt"))
      (second-document (read-file "documents/second.txt")))
  (compare first-document second-document))
""",
    "a table that does not fit has a pair a line": """\
{name: "a name that takes its place in the line"
 tags: ["hot" "green"]
 settings: {words: "a value that makes the whole table too long for one line"}}
""",
    "a vector fills its lines": """\
(define numbers
  [100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123
   124 125 126])
""",
    "a text block begins behind the rest and is indented below it": '''\
(define prompt """
  You are {{who}}.

    Be brief.
  """)
''',
    "comments at the ends of lines stand below one another": """\
; About the program.

(define tea 1)     ; what there is
(define coffee 2)  ; what there will be,
                   ; one day

; About the rest.
(f tea
   ; on a line of its own
   coffee)
""",
    "dropped forms and comments in a line stay": """\
(f #;(old x) 'a #| inner #| nested |# |# ~@b)
#;(define x 1)
""",
}


@pytest.mark.parametrize("text", LAID_OUT.values(), ids=LAID_OUT)
def test_it_looks_as_it_should(text):
    """What a good programmer would have written is left as it is."""
    assert text == format_text(text)


def test_the_chapter_is_laid_out():
    """The programs of the chapter on layout look as it says."""
    chapter = (ROOT / "spec" / "09b-format.md").read_text(encoding="utf-8")
    programs = [fence.text for fence in fences(chapter) if fence.kind == "sexp"]

    assert programs == list(map(format_text, programs))


@pytest.mark.parametrize(
    ("text", "laid"),
    [
        ("", ""),
        (" \n\n", ""),
        ("\ufeff(f)", "(f)\n"),
        ("( f\n  a )", "(f a)\n"),
        ("(f(g)[1]{a: 1}'x)", "(f (g) [1] {a: 1} 'x)\n"),
        ("(a)(b)", "(a)\n(b)\n"),
        ("(a)\n\n\n\n(b)\n\n\n", "(a)\n\n(b)\n"),
        ("(begin\n\n  1\n\n  2)", "(begin 1 2)\n"),
        ('{"a":1,"b" :[1,2]}', '{"a": 1 "b": [1 2]}\n'),
        ("'\n x  ~ @y", "'x\n~ @y\n"),
        ("{a: ; why\n 1}", "{a:  ; why\n   1}\n"),
        ("(f ; c\n )", "(f  ; c\n  )\n"),
        ("(f a\r\n; c\rb)", "(f a\n   ; c\n   b)\n"),
        ("1.50 -2e3 #t null", "1.50\n-2e3\n#t\nnull\n"),
        ('"a\\u00e9\\/"', '"a\\u00e9\\/"\n'),
        ("; only   \n\n\n; comments", "; only\n\n; comments\n"),
    ],
)
def test_white_space_is_put_in_order(text, laid):
    """Tokens are kept as they are spelled; commas and superfluous white space are not."""
    assert laid == format_text(text)
