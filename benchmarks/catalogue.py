"""Twenty first requests of different programs, and whether who reads them asks for the right task.

Each program of `requests/` has a task that has all work done by others. What its model is sent
first is all that is read: system, tools and messages. A reply is right if it asks for the task that
`requests/expected.json` names, and accepted if that task begins with what the reply gives it.

    python benchmarks/catalogue.py print > requests.jsonl
    python benchmarks/catalogue.py judge replies.jsonl    # {"number": 1, "name": …, "input": {…}}
    python benchmarks/catalogue.py ask --model local
    python benchmarks/catalogue.py tokens                 # what the lists take, also of examples
"""

import argparse
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import sexplang
from sexplang.tasks.prompt.window import tokens_in
from sexplang.terms.json.json_writer import json_text
from sexplang.terms.values.boundary import value_of

ROOT = Path(__file__).resolve().parent.parent
REQUESTS = ROOT / "benchmarks" / "requests"
PROGRAMS = sorted(REQUESTS.glob("[0-9]*.sexp"))
NEEDED = 19
SENT = ("system", "tools", "messages")
EXAMPLES = [ROOT / "examples" / name for name in ("continuation/default.sexp", "plan/plan.sexp")]


class Seen(Exception):
    """The request is there, and nobody is asked."""


def first_request(source: Path) -> dict[str, Any]:
    """What the model of a program is sent first."""
    seen: list[dict[str, Any]] = []

    def model(payload: dict[str, Any]) -> Any:
        seen.append(payload)
        raise Seen

    with suppress(Seen, sexplang.Failed):
        sexplang.run(source, model=model)
    return seen[0]


def judged(program: Path, call: dict[str, Any]) -> tuple[str | None, str]:
    """The task that a reply has begun by the program's own matching, and what was said instead."""
    begun: list[str] = []
    said = ""
    asks: list[str] = []

    def model(payload: dict[str, Any]) -> Any:
        nonlocal said
        asks.append(payload["task"])
        if len(asks) == 1:
            return {"tool_use": {"name": call["name"], "input": call["input"]}}
        if payload["task"] != asks[0]:
            begun.append(payload["task"])
            return "done"
        said = json.dumps(payload["messages"][-1]["content"])
        return "done"

    try:
        sexplang.run(program, model=model)
    except sexplang.Failed as failed:
        said = str(failed)
    return (begun[0] if begun else None), said


def call_of(reply: Any) -> dict[str, Any]:
    """The first tool call in a reply, or a call of nothing."""
    for block in reply.get("content", ()):
        if block.get("type") == "tool_use":
            return {"name": block["name"], "input": block["input"]}
    words = "".join(block.get("text", "") for block in reply.get("content", ()))
    return {"name": "nothing", "input": {}, "said": f"{reply.get('stop_reason')}: {words}"}


def tell(calls: dict[int, dict[str, Any]]) -> int:
    """Prints for each program whether its reply is right and accepted; how many are."""
    expected = json.loads((REQUESTS / "expected.json").read_text())
    right = 0
    for number, program in enumerate(PROGRAMS, 1):
        call = calls.get(number)
        if call is None:
            print(f"{number:2} no reply")
            continue
        task, said = judged(program, call)
        is_right = task == expected[program.stem]["name"]
        right += is_right
        asked = (call.get("said") or json.dumps(call["input"], ensure_ascii=False))[:160]
        words = (
            "right"
            if is_right
            else f"WRONG, {task or said[:200]} for {expected[program.stem]['name']}"
        )
        print(f"{number:2} {program.stem:16} {words}\n     {call['name']} {asked}")
    print(f"{right} of {len(PROGRAMS)} right and accepted; {NEEDED} are needed")
    return right


def asked_of(model: str, most: int) -> dict[int, dict[str, Any]]:
    """What a model replies to each first request."""
    calls: dict[int, dict[str, Any]] = {}
    for number, program in enumerate(PROGRAMS, 1):
        payload = {**first_request(program), "max_tokens": most}
        given = {key: payload[key] for key in (*SENT, "max_tokens")}
        try:
            reply = sexplang.run(
                "(define-input asked type: json) (model asked)",
                inputs={"asked": given},
                model=model,
            )
        except sexplang.Failed as failed:
            calls[number] = {"name": "nothing", "input": {}, "said": str(failed)}
        else:
            calls[number] = call_of(reply)
        print(f"{number:2} {json.dumps(calls[number], ensure_ascii=False)[:200]}", file=sys.stderr)
    return calls


def size(payload: dict[str, Any]) -> tuple[int, int]:
    """Estimated tokens of a request's tools, and of the list and the choices in them."""
    tools = payload["tools"]
    plain = json.loads(json.dumps(tools))
    for tool in plain:
        if tool["name"] in ("spawn_subtask", "propose_subplan"):
            tool["description"] = tool["description"].partition(" These are the tasks")[0]
            tool["description"] = tool["description"].partition(" The tasks are those")[0]
            _without_choices(tool["input_schema"])
    whole, bare = (tokens_in(json_text(value_of(each))) for each in (tools, plain))
    return whole, whole - bare


def _without_choices(schema: Any) -> None:
    """Takes the names of tasks out of a tool's schema."""
    for holder in (schema, schema["properties"].get("subtasks", {}).get("items", {})):
        holder.get("properties", {}).get("name", {}).pop("enum", None)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("does", choices=("print", "judge", "ask", "tokens"))
    parser.add_argument("replies", nargs="?", type=Path)
    parser.add_argument("--model", default="local")
    parser.add_argument("--most", type=int, default=300, help="tokens of a reply")
    options = parser.parse_args()
    if options.does == "print":
        for number, program in enumerate(PROGRAMS, 1):
            sent = first_request(program)
            row = {"number": number, **{key: sent.get(key) for key in SENT}}
            print(json.dumps(row, ensure_ascii=False))
    elif options.does == "judge":
        lines = options.replies.read_text().splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
        if tell({row["number"]: row for row in rows}) < NEEDED:
            sys.exit(1)
    elif options.does == "ask":
        tell(
            asked_of(options.model, options.most)
        )  # what a model makes of them is told, not asked for
    else:
        print(f"{'':18} tools   of these the list (before: 0)")
        for source in (*EXAMPLES, *PROGRAMS):
            whole, listed = size(first_request(source))
            print(f"{source.stem:18} {whole:5}   {listed:5}")


if __name__ == "__main__":
    main()
