"""A server that speaks as much of the protocol as it must, and does not do what it should.

python odd_mcp_server.py KIND [MARK]
"""

import json
import os
import subprocess
import sys
import time

SCHEMA = {"type": "object"}


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer(asked, **result):
    say(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **result}))


def tools(kind):
    names = [f"t{at}" for at in range(1500)] if kind == "many" else ["ping"]
    about = "x" * 200_000 if kind == "verbose" else "Answers."
    schema = {"inputSchema": 5} if kind == "schema" else {"inputSchema": SCHEMA}
    if kind == "stumbles safely":
        schema["annotations"] = {"idempotentHint": True}
    return [{"name": name, "description": about, **schema} for name in names]


def called(kind, asked, mark):
    if kind.startswith("stumbles"):  # at its first call
        with open(mark, "a") as file:
            if file.tell() == 0:
                file.write("x")
                sys.exit(3)
            file.write("x")
    if kind == "huge":
        say("x" * 5_000_000)
    elif kind == "endless":
        while True:
            sys.stdout.write("x" * 1_000_000)
    elif kind in ("id last", "id then version"):
        last = ', "jsonrpc": "2.0"' if kind == "id then version" else ""
        text = json.dumps('{"id": 99}' + "x" * 5_000_000 + '", "id": 99}')
        result = f'{{"content": [{{"type": "text", "text": {text}}}]}}'
        say(f'{{"result": {result}, "id": {asked["id"]}{last}}}')
    elif kind == "odd":
        answer(asked, result={"content": "no list"})
    elif kind == "other id":
        answer({"id": 99}, result={"content": []})
    elif kind == "text id":  # a number as text is the number
        answer({"id": str(asked["id"])}, result={"content": [{"type": "text", "text": "pong"}]})
    elif kind in ("own code", "no ping", "own ping"):
        words = "Connection closed" if kind == "no ping" else "boom"
        answer(asked, error={"code": -32000, "message": words})
    elif kind == "bare":
        answer(asked, result="x")
    elif kind in ("long", "deep"):
        inner = "9" * 6_000 if kind == "long" else "[" * 200_000 + "]" * 200_000
        result = f'{{"content": [], "id": 5, "structuredContent": {{"x": {inner}}}}}'
        say(f'{{"jsonrpc": "2.0", "result": {result}, "id": {asked["id"]}}}')
    elif kind == "nonsense":
        say("{nonsense")
        answer(asked, error={"code": -32603, "message": "it broke"})
    else:
        answer(asked, result={"content": [{"type": "text", "text": "pong"}]})


def main(kind, mark="1"):
    if kind == "mute":
        time.sleep(600)
    if kind == "deaf":  # it leaves somebody behind, and does not hear that it is to go
        subprocess.Popen(["setsid", "sleep", mark])
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["method"] == "initialize":
            version = asked["params"]["protocolVersion"]
            about = {"name": "odd", "version": "1"}
            capabilities = {"resources": {}} if kind in ("papers", "books") else {"tools": {}}
            answer(
                asked,
                result={
                    "protocolVersion": version,
                    "capabilities": capabilities,
                    "serverInfo": about,
                },
            )
        elif asked["method"] == "resources/list":
            first = int(asked.get("params", {}).get("cursor", 0))
            words = "x" * (0 if kind == "papers" else 10_000)
            found = [{"uri": f"a:{at}", "name": words} for at in range(first, first + 300)]
            answer(asked, result={"resources": found, "nextCursor": str(first + 300)})
        elif asked["method"] == "tools/list" and kind not in ("papers", "books"):
            answer(asked, result={"tools": tools(kind)})
        elif asked["method"] == "tools/call":
            called(kind, asked, mark)
            if kind == "retires":
                sys.exit()
        elif kind == "own ping" and "id" in asked:
            answer(asked, error={"code": -32000, "message": "what?"})
        elif "id" in asked and (kind, asked["method"]) != ("no ping", "ping"):
            answer(asked, error={"code": -32601, "message": "not found"})
    if kind == "deaf":
        os.execvp("sleep", ["sleep", mark])


if __name__ == "__main__":
    main(*sys.argv[1:])
