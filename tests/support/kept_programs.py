"""Programs that are kept from a real drive: each has what makes a state hard to fold.

A program has a text, the replies of its model and what it is given. Effects and tools are those of
`PERFORMERS`; `stop` interrupts the run as Ctrl-C does.
"""

from typing import Any

from attrs import field, frozen

CANARY = "canary-7f3a9c-5e1b2d"
"""The credential that the environment of the live runs holds, and that of a fold does not."""


@frozen
class KeptProgram:
    """A program and its world. The model is a list of replies, or a server that says them."""

    text: str
    replies: tuple[Any, ...] = ()
    least: int = 3
    """The least number of states that a fold finds."""
    rows: tuple[str, ...] = ()
    """Operations of rows that the drive must have left."""
    budget: dict[str, float] | None = None
    inputs: dict[str, Any] = field(factory=dict)
    limits: dict[str, Any] = field(factory=dict)
    is_served: bool = False
    """Whether a server says the replies, event by event."""


def use(tool: str, **given: Any) -> dict[str, Any]:
    """Return a reply that calls one tool."""
    return {"tool_use": {"name": tool, "input": given}}


def paid(text: str, taken: int, given: int) -> dict[str, Any]:
    """Return a reply with its tokens."""
    return {
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": taken, "output_tokens": given},
        "model": "claude-sonnet-4-5",
    }


def cut(events: int, then: str) -> dict[str, Any]:
    """Return a reply of a server of which only so many events arrive."""
    usage = {"input_tokens": 70, "cache_read_input_tokens": 20, "output_tokens": 9}
    content = [{"type": "text", "text": "Tea is wet."}]
    return {"cut": events, "then": then, "content": content, "usage": usage}


def plan(*names: str, **more: Any) -> dict[str, Any]:
    """Return a reply that proposes a plan: the last subtask depends on all others."""
    listed: list[dict[str, Any]] = [{"name": "clerk", "description": name} for name in names]
    listed[-1]["depends_on_subtasks"] = list(range(len(names) - 1))
    return use("propose_subplan", reason="TooLarge", subtasks=listed, **more)


EFFECTS = "(define-effect (act n)) (define-effect (hang)) (define-effect (stop))"
LOOP = "(define (count n) (if (= n 0) 0 (count (- n 1))))"
CLERK = '(defatom clerk (params (what string)) (instructions "Find {{what}}."))'
CHIEF = f"""{CLERK}
(defatom chief (params (goal string)) (instructions "Reach {{{{goal}}}}.")
  (allowed_tools propose_subplan spawn_subtask))"""
SAY = '(defatom say (params n) (instructions "Say {{n}}."))'

PROGRAMS = {
    "money": KeptProgram(
        f"""{SAY}
        (list (par-map say [1 2 3])
              (attempt (with-budget {{usd: 0.0001}} (say 4)) "too dear")
              (with-budget {{usd: 0.5 calls: 2}} (say 5)))""",
        tuple([paid(f"said {n}", 1_001 + n, 37 * n) for n in range(1, 6)]),
        budget={"usd": 1.5, "calls": 20},
        least=5,
    ),
    "attempts": KeptProgram(
        f"{SAY} (list (say 1) (attempt (say 2)))",
        (cut(5, "torn"), cut(3, "error"), "At last.", "Again."),
        budget={"tokens": 100_000},
        rows=("attempt", "model"),
        is_served=True,
    ),
    "withdrawn call": KeptProgram(
        f'{SAY} [(attempt (with-timeout 0.25 (par (say 1) (sleep 30))) "late") (sleep 0)]',
        (cut(3, "silence"),),
        budget={"tokens": 100_000},
        rows=("timer", "cut"),
        is_served=True,
    ),
    "deadline": KeptProgram(
        f"""{EFFECTS}
        (list (act 1)
              (attempt (with-timeout 0.02 (try (par (hang) (sleep 9)) (finally (act 2)))) "late")
              (with-timeout 60 (with-budget {{seconds: 50}} (act 3))))""",
        rows=("timer", "cut"),
        least=5,
    ),
    "computing deadline": KeptProgram(
        f"""{EFFECTS} {LOOP}
        (list (act 1)
              (attempt (with-timeout 0.02 (try (count 900000000) (finally (act 2)))) "late")
              (attempt (with-timeout 0.02 (par (act 3) (count 900000000))) "late")
              (act 4))""",
        rows=("passed",),
        least=6,
    ),
    "computing first": KeptProgram(
        f"""{EFFECTS} {LOOP}
        (define late (attempt (with-timeout 0.02 (count 900000000)) "late"))
        (list late (act 1))""",
        rows=("passed",),
        least=2,
    ),
    "computing beside": KeptProgram(
        f"""{EFFECTS} {LOOP} {SAY}
        (list (race (hang) (begin (act 1) (attempt (with-timeout 0.02 (count 900000000)) "late")))
              (with-budget {{seconds: 40}} (par (say 2) (begin (count 20000) (act 3)))))""",
        ("two",),
        rows=("passed", "cut"),
        least=4,
    ),
    "cancelled": KeptProgram(
        f"""{EFFECTS}
        (try (par (try (begin (act 1) (hang)) (finally (act 2)))
                  (try (with-timeout 60 (begin (act 3) (stop))) (finally (begin (act 4) (act 5))))
                  (try (sleep 30) (finally (with-timeout 20 (act 6)))))
             (finally (act 7)))""",
        rows=("cancel",),
        least=8,
    ),
    "cancelled conversation": KeptProgram(
        f"""{EFFECTS} {CHIEF}
        (try (par (call-task chief "tea") (begin (sleep 0.05) (stop)))
             (finally (act 2)))""",
        (plan("price", "taste"), "dear", {"wait": 30}),
        rows=("cancel", "model"),
        least=4,
    ),
    "plan": KeptProgram(
        f'{CHIEF} (define made (call-task chief "tea")) (list (str made) made.notes)',
        (plan("price", "taste", "both"), "dear", "bitter", "dear and bitter", "Tea is both."),
        budget={"usd": 2.0, "calls": 30},
        least=8,
    ),
    "first success": KeptProgram(
        f"""{EFFECTS} {CHIEF}
        (handle (list (str (chief "tea")) (act 1))
          ((subtask request) resume
            (if (string=? request.description "price")
                (begin (act 2) (hang) (resume "dear"))
                (begin (act 3) (resume "bitter")))))""",
        (
            use(
                "propose_subplan",
                stop_when="FirstSuccess",
                subtasks=[
                    {"name": "clerk", "description": name} for name in ("price", "taste", "smell")
                ],
            ),
            "Bitter.",
        ),
        least=5,
    ),
    "program from a model": KeptProgram(
        f"""{EFFECTS} {SAY}
        (define text (str (say "a program")))
        (define made (eval-plan text inputs: {{n: 4}} allow: ['act 'model]))
        (list made.status (act 9) made.value)""",
        (
            '(define-input n type: json) (defatom own (params q) (instructions "{{q}}"))'
            " (define (twice f) (list (f n) (f (+ n 1)))) "
            '(list (twice (lambda (x) (perform act x))) (str (own "why")))',
            "because",
        ),
        least=5,
    ),
    "subtask": KeptProgram(
        f'{CHIEF} (define made (call-task chief "tea")) '
        '(define more (continue made "And milk?")) (list made.notes (str more))',
        (
            use("spawn_subtask", name="clerk", inputs={"what": "the price"}),
            "dear",
            use("spawn_subtask", name="clerk", inputs={"wat": 1}),
            "Tea is dear.",
            "Milk is white.",
        ),
        least=5,
    ),
    "subagents": KeptProgram(
        """(define made (spawn-subagent task: "what is sencha?" tools: ["look_up"]))
        (define all (run-parallel-subagents
          [{id: "a" task: "one"} {id: "b" task: "two" constraints: "short"}]))
        (list made all.success_count (map (lambda (each) each.result.content) all.results))""",
        (use("look_up", word="sencha"), "A green tea.", "1", "2"),
        budget={"usd": 2.0},
        rows=("tool", "model", "now"),
        least=12,
    ),
    "secrets": KeptProgram(
        f"""{EFFECTS} {SAY} (define-input word)
        (define-effect (leak n))
        (list word (leak 1) (str (say word)) (tool "leak" {{}}) (attempt (leak -1))
              (string-length (leak 2)) (act 3))""",
        (f"the key is {CANARY}",),
        inputs={"word": f"my key: {CANARY}"},
        rows=("leak", "model", "tool"),
        least=6,
    ),
    "failure": KeptProgram(
        f"""{EFFECTS}
        (define (inner n) (begin (act n) (/ n 0)))
        (list (attempt (act -1))
              (try (par (inner 2) (hang)) (catch (e) e))
              (handle (attempt (inner 3)) ((act n) k (k (* n 100))))
              (inner 4))""",
        least=4,
    ),
    "sleep": KeptProgram(
        f"""{EFFECTS}
        (list (race (begin (sleep 0.01) (act 1)) (begin (sleep 20) (act 2)))
              (par-map (lambda (n) (begin (sleep (/ n 1000)) (act n))) [3 2 1] limit: 2)
              (random 1000) (now))""",
        rows=("sleep", "cut", "random", "now"),
        least=8,
    ),
    "futures": KeptProgram(
        f"""{EFFECTS} (define-effect (flip))
        (handle (let ((a (flip)) (b (flip))) [(act (+ (* 10 a) b)) (try (act 7) (finally (act 8)))])
          ((flip) k (append (k 1) (k 2)))
          (return x [x]))""",
        least=12,
    ),
    "inputs": KeptProgram(
        f"""{EFFECTS} (define-input table type: json) (define-input text type: string)
        (define-input many type: json)
        (define long (string-join (map str (range 1 400)) text))
        (list (act 1) table (string-length long) (substring long 7 30) (sum many) (rest many)
              (merge table {{many: many}}) 'symbol (act 2))""",
        inputs={
            "table": {"z": 1.1, "a": [2**70, -0.0, 1e22, None, True], "ä 🩷": {"": "\u2028"}},
            "text": "-\U0001f9ea-",
            "many": [0.1, 0.2, 0.3, 1e16, -1e16],
        },
        limits={"steps": 777_777, "model_calls": 9, "subplan_nodes": 20},
        least=3,
    ),
    "zones and numbers": KeptProgram(
        f"""(import std/vectors) {EFFECTS}
        (define then 1714557600.25)
        (list (act 1) (format-date then "%A %d %B %Y %H:%M" "Europe/Berlin")
              (iso-time then "Asia/Tokyo") (dot [0.1 0.2 0.3] [1 1 1])
              (cosine [0.1 0.2 0.3 0.7] [0.9 0.11 0.13 0.17]) (exp 1.1) (sin 1e22) (expt 2 0.5)
              (parse-duration "1.1s") (str ["🩷" "\\u0000" "\U0001e4d0"]) (act 2))""",
        rows=("act",),
        least=3,
    ),
    "typed replies": KeptProgram(
        """(defatom count-it (params (n integer)) (instructions "Count {{n}}.")
             (returns {many: integer  why?: string}))
        (list (count-it 1) (attempt (count-it 2)))""",
        (
            '{"many": 3,} and then {',
            '{"many": "a lot"}',
            '{"many": 3, "why": "🩷"}',
            "[1, 2,, 3",
            '{"many": }',
            "nothing",
        ),
        least=5,
    ),
    "malformed requests": KeptProgram(
        f'{CHIEF} (attempt (call-task chief "tea"))',
        (
            '{"status": "CONTINUATION", "notes": {"subtask_request": {"name": "clerk"}},}',
            '{"status": "CONTINUATION", "notes": ' + "[" * 950 + "]" * 950 + "}",
            use("propose_subplan", subtasks='[{"description": "price",}]'),
        ),
        least=4,
    ),
    "embedded tools": KeptProgram(
        """(defatom guide (params q) (instructions "{{q}}") (allowed_tools look_up))
        (handle (list (str (guide "tea")) (tool "price" {of: "tea"}))
          ((tool name given) resume
            (if (string=? name "price") (resume {usd: 2.5}) (forward resume tool name given))))""",
        (use("look_up", word="tea"), "Tea is a plant."),
        rows=("tool", "model"),
        least=4,
    ),
}
"""By name; the text alone is given to a fold again."""
