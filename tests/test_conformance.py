"""What the documents' own evaluator was tested for (inventory 10.4), as `decisions.md` has it:
whole programs, real parser, real machine, scripts of replies.
"""

import re
from pathlib import Path

import pytest
from support.markdown import ROOT

import sexplang

TASKS = """
(defatom write-code (params plan) (instructions "Write {{plan}}"))
(defatom look (params topic) (instructions "Look at {{topic}}") (allowed_tools lookup))
"""

GOOD = {
    # environment
    "a name is looked up": ("(define x 1) x", 1),
    "in the scope around": ("(define x 1) (let ((y 2)) (+ x y))", 3),
    "and around that": ("(define x 1) (let ((y 2)) (let ((z 3)) (list x y z)))", [1, 2, 3]),
    "an inner name hides an outer one": ("(define x 1) (let ((x 2)) x)", 2),
    "and only there": ("(define x 1) (let ((x 2)) x) x", 1),
    "bind may bind again": ("(bind x 1) (bind x (+ x 1)) x", 2),
    "bind in an inner body hides": ("(bind x 1) (let () (bind x 5) x) x", 1),
    "bind in an inner body is seen there": ("(bind x 1) (let () (bind x 5) x)", 5),
    # parser
    "lists nest": ("'(a (b (c)))", ["a", ["b", ["c"]]]),
    "all kinds of atoms": (
        '(list 1 -2 1.5 "a\\nb" \'x true false nil ())',
        [1, -2, 1.5, "a\nb", "x", True, False, None, []],
    ),
    "nil may stand in a list": ("(list nil 1)", [None, 1]),
    "several forms give the last": ("1 2 3", 3),
    "an empty text gives nil": ("", None),
    # core forms
    "let evaluates outside": ("(define x 1) (let ((x 2) (y x)) y)", 1),
    "if takes one branch": ('(if false (error "no") 2)', 2),
    "quote of an atom": ("(quote x)", "x"),
    "quote evaluates nothing": ("'(+ 1 2)", ["+", 1, 2]),
    "progn gives the last": ("(progn 1 2)", 2),
    "an empty progn": ("(progn)", []),
    "and gives what decides": (
        "(list (and 1 nil 3) (and) (or nil 2) (or))",
        [None, True, 2, False],
    ),
    "only false and nil are false": (
        '(map not (list true false nil () (list 1) 0 1 "" "a"))',
        [False, True, True, False, False, False, False, False, False],
    ),
    # tasks and tools
    "a task is called": ('(str (write-code "p"))', "R1"),
    "with named parameters": ('(str (write-code plan: "p"))', "R1"),
    "as the explicit form": ('(str (call-atomic-task \'write-code inputs: {plan: "p"}))', "R1"),
    "a tool is called": ('(tool "lookup" {word: "tea"})', "TEA"),
    "a task uses a tool": ('(str (look "tea"))', "R1"),
    "a defined task is called": (
        '(defatom hi (params who) (instructions "Hi {{who}}")) (str (hi "Ann"))',
        "R1",
    ),
    # loop
    "loop gives the last": ("(loop 3 7)", 7),
    "zero times": ('(loop 0 (error "no"))', []),
    "the count is an expression": ("(loop (+ 1 1) 5)", 5),
    "a loop with variables": (
        "(loop ((i 0) (sum 0)) (if (= i 4) sum (recur (+ i 1) (+ sum i))))",
        6,
    ),
    # lambda
    "a function is applied": ("((lambda (a b) (+ a b)) 2 3)", 5),
    "lexical capture": ("(define (adder n) (lambda (x) (+ x n))) ((adder 3) 4)", 7),
    "functions take functions": (
        "(define (twice f x) (f (f x))) (twice (lambda (n) (* n n)) 3)",
        81,
    ),
    "a function knows itself": (
        "(bind fact (lambda (n) (if (= n 0) 1 (* n (fact (- n 1)))))) (fact 5)",
        120,
    ),
    "a closure keeps its environment": (
        "(define x 1) (define (f) x) (let ((x 2)) (f))",
        1,
    ),
    "a returned closure": ("(((lambda (a) (lambda (b) (+ a b))) 2) 5)", 7),
    "a body in order": ("((lambda () (bind a 1) (bind a (+ a 1)) a))", 2),
    # primitives
    "equality of numbers": ("(list (eq? 1 1) (eq? 1 1.0) (eq? 1 2))", [True, True, False]),
    "of strings, booleans, symbols": (
        '(list (eq? "a" "a") (eq? true true) (eq? \'a \'a) (eq? "a" \'a))',
        [True, True, True, False],
    ),
    "nil is not false": ("(list (eq? nil false) (eq? nil nil) (eq? () nil))", [False, True, False]),
    "of nested lists": ("(equal? '(1 (2 3)) '(1 (2 3)))", True),
    "null? of nil and the empty list": (
        '(map null? (list nil () 0 false ""))',
        [True, True, False, False, False],
    ),
    "get-field of a result": ('(get-field (call-task write-code "p") "status")', "COMPLETE"),
    "get-property of a path": ('(get-property {notes: {success: true}} "notes.success")', True),
    "a path as a symbol": ("(define r {notes: {success: true}}) r.notes.success", True),
    "a sum of nothing": ("(+)", 0),
    "integers stay integers": ("(list (+ 1 2) (+ 1 2.0))", [3, 3.0]),
    "negation": ("(- 3)", -3),
    "string-append": ('(string-append "a" "b")', "ab"),
    "string-append of nothing": ("(string-append)", ""),
    # the loops of the documents
    "a director loop stops at once": (
        """(director-evaluator-loop max_iterations: 3 initial: "q"
             director: (lambda (in i) in) executor: (lambda (p i) (str p i))
             evaluator: (lambda (e p i) {success: true})
             controller: (lambda (v p e i) (list 'stop e)))""",
        "q1",
    ),
    "it ends after the last iteration": (
        """(director-evaluator-loop max_iterations: 2 initial: "q"
             director: (lambda (in i) in) executor: (lambda (p i) (str p i))
             evaluator: (lambda (e p i) {success: false})
             controller: (lambda (v p e i) (list 'continue e)))""",
        "q12",
    ),
    "no iteration at all": (
        """(director-evaluator-loop max_iterations: 0 initial: "q"
             director: (lambda (in i) in) executor: (lambda (p i) p)
             evaluator: (lambda (e p i) {success: true})
             controller: (lambda (v p e i) (list 'stop e)))""",
        [],
    ),
    "an iterative loop counts to three": (
        """(iterative-loop max_iterations: 5 initial: 1 test_command: "true"
             executor: (lambda (in i) (+ in 0)) validator: (lambda (c i) {exit_code: 0})
             controller: (lambda (e v in i) (if (= e 3) ['stop e] ['continue (+ e 1)])))""",
        3,
    ),
    "where it stands may be a name of its own": (
        """(define most 2)
           (director-evaluator-loop max_iterations: most initial: "q"
             director: (lambda (in i) (str in i "/" most)) executor: (lambda (p i) p)
             evaluator: (lambda (e p i) (get-field {ok: (eq? i most)} "ok"))
             controller: (lambda (v p e i) (if v ['stop e] ['continue e])))""",
        "q1/22/2",
    ),
    "an execution that fails is judged": (
        """(director-evaluator-loop max_iterations: 1 initial: "q"
             director: (lambda (in i) in) executor: (lambda (p i) (error "no tea"))
             evaluator: (lambda (e p i) e.status)
             controller: (lambda (v p e i) ['stop v]))""",
        "FAILED",
    ),
    "an evaluation that fails is told the controller": (
        """(director-evaluator-loop max_iterations: 1 initial: "q"
             director: (lambda (in i) in) executor: (lambda (p i) p)
             evaluator: (lambda (e p i) (error "no judge"))
             controller: (lambda (v p e i) ['stop [v.notes.success v.notes.feedback]]))""",
        [False, "no judge"],
    ),
    "an error of a phase says where it was": (
        """(try (director-evaluator-loop max_iterations: 2 initial: "q"
                  director: (lambda (in i) (if (= i 2) (error "no tea") in))
                  executor: (lambda (p i) p) evaluator: (lambda (e p i) true)
                  controller: (lambda (v p e i) ['continue e]))
                (catch (e) [e.reason e.details.phase e.details.iteration]))""",
        ["raised", "director", 2],
    ),
    "an iterative loop ends after its last iteration": (
        """(iterative-loop max_iterations: 2 initial: 1 test_command: "t"
             executor: (lambda (in i) (* 10 in)) validator: (lambda (c i) {exit_code: 1})
             controller: (lambda (e v in i) ['continue (+ in 1)]))""",
        20,
    ),
    "or before its first": (
        """(iterative-loop max_iterations: 0 initial: 1 test_command: "t"
             executor: (lambda (in i) (error "no")) validator: (lambda (c i) nil)
             controller: (lambda (e v in i) ['stop e]))""",
        [],
    ),
    "its validator knows the command": (
        """(iterative-loop max_iterations: 1 initial: 1 test_command: "t"
             executor: (lambda (in i) in) validator: (lambda (c i) {stdout: (str c i)})
             controller: (lambda (e v in i) ['stop v.stdout]))""",
        "t1",
    ),
    "what a task fails with can be caught": (
        """(try (handle (write-code "p") ((model p) k (k {content: [] stop_reason: "refusal"})))
                (catch (e llm_error) e.type))""",
        "TASK_FAILURE",
    ),
    "a local name hides a task": ('(let ((write-code (lambda (p) "own"))) (write-code 1))', "own"),
    "and a primitive": ("(let ((+ -)) (+ 3 1))", 2),
    "a missing field is nil": ("(get-field {a: 1} 'b)", None),
    "a memory that fails says so": (
        """(handle (get-in (get-context query: "x") ["error" "message"])
             ((search-memory q) k (k {summary: "" matches: [] error: {message: "gone"}})))""",
        "gone",
    ),
    "both strategies": (
        """(handle (map (lambda (s) (get (get-context query: "x" matching_strategy: s) "summary"))
                        ['content "metadata"])
             ((search-memory q) k (k {summary: q.matching_strategy matches: [] error: nil})))""",
        ["content", "metadata"],
    ),
    "get-context gives a record": (
        '(bind found (get-context query: "tea")) (list found.matches found.error)',
        [[], None],
    ),
}

BAD = {
    "a name that is nowhere": ("x", "unbound-name"),
    "a name that is not there any more": ("(let ((x 1)) x) x", "unbound-name"),
    "a name defined twice": ("(define x 1) (define x 2)", "defined-twice"),
    "an open bracket": ("(+ 1 2", "unclosed-bracket"),
    "a bracket too many": ("(+ 1 2))", "stray-closer"),
    "a string without an end": ('"abc', "unterminated-string"),
    "an if of two": ("(if true 1)", "malformed-form"),
    "a quote of two": ("(quote a b)", "malformed-form"),
    "a let without body": ("(let ((x 1)))", "malformed-form"),
    "a binding that is none": ("(let (x) x)", "malformed-form"),
    "a lambda without body": ("(lambda (x))", "malformed-form"),
    "parameters that are none": ("(lambda (1) 1)", "malformed-form"),
    "assignment": ("(define x 1) (set! x 2)", "no-assignment"),
    "a call of what is no function": ("(define n 5) (n 1)", "not-a-function"),
    "too few arguments": ("((lambda (a b) a) 1)", "wrong-arity"),
    "too many arguments": ("((lambda (a) a) 1 2)", "wrong-arity"),
    "a number that is none": ('(+ 1 "a")', "wrong-type"),
    "a boolean that is no number": ("(+ true 1)", "wrong-type"),
    "a comparison of texts": ('(< "a" 1)', "wrong-type"),
    "string=? of a number": ('(string=? 1 "a")', "wrong-type"),
    "loop without a count": ('(loop "x" 1)', "wrong-type"),
    "loop with a boolean": ("(loop true 1)", "wrong-type"),
    "loop with a negative count": ("(loop -1 1)", "wrong-type"),
    "the error of a loop's body": ('(loop 2 (error "in the body"))', "raised"),
    "a task without its input": ("(write-code)", "wrong-arity"),
    "files that are no texts": (
        '(call-atomic-task \'write-code inputs: {plan: "p"} file_paths: [1])',
        "input_validation_failure",
    ),
    "a context that is no table": (
        '(call-atomic-task \'write-code inputs: {plan: "p"} context_management: 3)',
        "input_validation_failure",
    ),
    "a task that nobody knows": ("(call-atomic-task 'nobody inputs: {})", "template_not_found"),
    "defatom without instructions": ("(defatom t (params a))", "incomplete-template"),
    "defatom with a bad name": ('(defatom "t" (instructions "x"))', "malformed-form"),
    "defatom with a clause that is none": (
        '(defatom t (instructions "x") (colour "red"))',
        "unknown-clause",
    ),
    "defatom with a clause twice": (
        '(defatom t (instructions "x") (instructions "y"))',
        "duplicate-clause",
    ),
    "a loop without its controller": (
        """(director-evaluator-loop max_iterations: 1 initial: 1 director: (lambda (a i) a)
             executor: (lambda (a i) a) evaluator: (lambda (a b i) a))""",
        "wrong-arity",
    ),
    "a decision that is none": (
        """(director-evaluator-loop max_iterations: 1 initial: 1 director: (lambda (a i) a)
             executor: (lambda (a i) a) evaluator: (lambda (a b i) {success: true})
             controller: (lambda (v p e i) 5))""",
        "bad-decision",
    ),
    "a loop of less than none": (
        """(director-evaluator-loop max_iterations: -1 initial: 1 director: list
             executor: list evaluator: list controller: list)""",
        "wrong-type",
    ),
    "a phase that is no function": (
        """(director-evaluator-loop max_iterations: 1 initial: 1 director: list
             executor: 3 evaluator: list controller: list)""",
        "wrong-type",
    ),
    "a phase twice": (
        """(director-evaluator-loop max_iterations: 1 initial: 1 director: list director: list
             executor: list evaluator: list controller: list)""",
        "duplicate-label",
    ),
    "a decision of one": (
        """(director-evaluator-loop max_iterations: 1 initial: 1 director: list
             executor: list evaluator: list controller: (lambda (v p e i) ['stop]))""",
        "bad-decision",
    ),
    "a decision of three": (
        """(director-evaluator-loop max_iterations: 1 initial: 1 director: list
             executor: list evaluator: list controller: (lambda (v p e i) ['stop 1 2]))""",
        "bad-decision",
    ),
    "a decision of another word": (
        """(iterative-loop max_iterations: 1 initial: 1 test_command: "t" executor: list
             validator: (lambda (c i) {exit_code: 0}) controller: (lambda (e v in i) ['go e]))""",
        "bad-decision",
    ),
    "an iterative loop without its executor": (
        '(iterative-loop max_iterations: 1 initial: 1 test_command: "t" controller: list)',
        "wrong-arity",
    ),
    "a test command that is none": (
        """(iterative-loop max_iterations: 1 initial: 1 test_command: 3
             executor: list controller: list)""",
        "wrong-type",
    ),
    "clauses of the documents": (
        '(director-evaluator-loop (max-iterations 3) (initial-director-input "q"))',
        "named-argument",
    ),
    "pairs of the documents": ('(write-code (plan "p"))', "named-argument"),
    "a list that is text": ('(map str "[1, 2]")', "wrong-type"),
    "a map ends at the first failure": (
        """(map (lambda (x) (if (= x 1) (error "first") (raise {reason: "second"}))) [1 2])""",
        "raised",
    ),
    "recur elsewhere than at the end": ("(loop ((i 0)) (+ 1 (recur 1)))", "recur-outside-loop"),
    "recur of too few": ("(loop ((i 0) (j 1)) (if (= i 1) j (recur 1)))", "recur-arity"),
    "a loop without a body": ("(loop 1)", "malformed-form"),
    "an equality of one": ("(eq? 1)", "wrong-arity"),
    "text that is a table": ("(string-append {a: 1})", "wrong-type"),
    "less than a boolean": ("(< true 2)", "wrong-type"),
    "less by a boolean": ("(- 2 true)", "wrong-type"),
    "a model that fails": (
        '(handle (write-code "p") ((model p) k (error "the model is gone")))',
        "raised",
    ),
    "parameters of defatom that are none": (
        '(defatom t (params 3) (instructions "x"))',
        "malformed-form",
    ),
    "instructions that are no text": ("(defatom t (instructions 3))", "malformed-form"),
    "a model that is no text": ('(defatom t (instructions "x") (model 3))', "malformed-form"),
    "a task defined twice": (
        '(defatom t (instructions "x")) (defatom t (instructions "x"))',
        "defined-twice",
    ),
    "a strategy that is none": (
        '(get-context query: "x" matching_strategy: \'odd)',
        "wrong-type",
    ),
}


def lookup(word: str = "") -> str:
    """Looks a word up."""
    return word.upper()


def run(program):
    """The value of a program with two tasks, a tool and a model that says R1."""
    return sexplang.run(TASKS + program, model=lambda payload: "R1", tools=[lookup])


@pytest.mark.parametrize("name", GOOD)
def test_the_documents_evaluator_conforms(name):
    program, value = GOOD[name]

    assert run(program) == value
    assert type(run(program)) is type(value)


@pytest.mark.parametrize("name", BAD)
def test_the_documents_errors_are_errors(name):
    program, code = BAD[name]

    with pytest.raises((sexplang.Diagnostics, sexplang.Failed)) as raised:
        run(program)
    error = raised.value
    if isinstance(error, sexplang.Diagnostics):
        assert code in [found.code for found in error.diagnostics]
        assert all(found.span is not None for found in error.diagnostics)
    else:
        assert error.reason == code


def test_the_table_of_the_documents_names_tests_that_exist():
    """Each line of the chapter has one."""
    chapter = (ROOT / "spec" / "14-documents.md").read_text(encoding="utf-8")
    lines = [line for line in chapter.splitlines() if re.match(r"\| (S\d-\d+|\d+) \|", line)]
    named = [re.findall(r"`(tests/[\w/.]+)::(\w+)`", line) for line in lines]

    seeds = {"S0": 14, "S1": 17, "S4": 10}
    asked = [f"{seed}-{at}" for seed, last in seeds.items() for at in range(1, last + 1)]
    assert [*asked, *map(str, range(1, 38))] == [line.split(" ")[1] for line in lines]
    assert all(named), [line for line, found in zip(lines, named, strict=True) if not found]
    for file, test in (pair for found in named for pair in found):
        assert re.search(rf"^def {test}\b", Path(ROOT, file).read_text(encoding="utf-8"), re.M), (
            test
        )


def test_the_tables_of_what_is_done_at_once_name_tests_that_exist():
    """Each line of the tables of chapter 16 has one."""
    chapter = (ROOT / "spec" / "16-many.md").read_text(encoding="utf-8")
    rows = [line for line in chapter.splitlines() if line.startswith("| ") and "test |" not in line]
    named = [re.findall(r"`(tests/[\w/.]+)::(\w+)`", line) for line in rows]

    assert all(named), [line for line, found in zip(rows, named, strict=True) if not found]
    for file, test in (pair for found in named for pair in found):
        text = Path(ROOT, file).read_text(encoding="utf-8")
        assert re.search(rf"^def {test}\b", text, re.M), test
