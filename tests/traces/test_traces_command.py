"""`sexplang run` with a collector: what is sent there, and what is not."""

import json
import subprocess
import sys

import pytest
from support.collector import Collector
from support.command import sexplang
from support.markdown import ROOT

PROGRAM = """
(defatom summarize (params text) (instructions "Summarize {{text}}") (allowed_tools ["read_file"]))
(log "info" "begin")
(par (summarize "the leaves") (attempt (summarize "the hills")))
(str (car (list 1 2)))
"""

SCRIPT = [
    {
        "task": "summarize",
        "contains": "Summarize the hills",
        "reply": {"error": "invalid_request_error"},
    },
    {
        "task": "summarize",
        "contains": "Summarize the leaves",
        "reply": {"tool_use": {"name": "read_file", "input": {"path": "tea.txt"}}},
        "times": 1,
    },
    {
        "task": "summarize",
        "reply": "steeped tea",
        "usage": {"input_tokens": 11, "output_tokens": 4},
    },
]

KEY = "sk-lf-0123456789abcdef"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "p.sexp").write_text(PROGRAM)
    (tmp_path / "tea.txt").write_text("the secret of tea")
    (tmp_path / "s.json").write_text(json.dumps(SCRIPT))
    return tmp_path


def run(folder, *words, **environment):
    return sexplang(
        "run", "p.sexp", "--model", "scripted:s.json", *words, cwd=folder, **environment
    )


def test_the_environment_turns_it_on(folder):
    """The standard variable is enough: the tree of the run arrives, each thing once."""
    with Collector() as collector:
        done = run(folder, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    root = collector.named("invoke_workflow p.sexp")
    first, second = sorted(
        (span for span in collector.spans if span.parent == root.id and "branch" in span.name),
        key=lambda span: span.name,
    )
    agents = [span for span in collector.spans if span.name == "invoke_agent summarize"]
    (leaves,) = [span for span in agents if span.parent == first.id]
    (hills,) = [span for span in agents if span.parent == second.id]

    assert ("1\n", 0) == (done.stdout, done.returncode)
    assert ["/v1/traces"] == sorted({*collector.paths})
    assert ["execute_tool log", "branch 0", "branch 1"] == collector.below(root)
    assert ["chat s.json", "branch 0", "chat s.json"] == collector.below(leaves)
    assert ["chat s.json"] == collector.below(hills)
    assert 1 == len({span.trace for span in collector.spans})
    assert "sexplang" == root.resource["service.name"]
    assert f"trace_id={root.trace} span_id={collector.named('execute_tool log').id}" in done.stderr


@pytest.mark.parametrize("more", [[], ["--json"], ["--quiet"]])
def test_a_file_that_takes_no_more_is_named(folder, more):
    """The value stands where it belongs; that the traces are lost is an error, and no bug."""
    done = run(folder, "--trace", "/dev/full", *more)

    assert ("1", 1) == (done.stdout.strip().strip('"'), done.returncode)
    words = "spans could not be written to /dev/full: no space left on device"
    assert f"{words}\n  = hint: make room, or name another file: --trace FILE" in done.stderr


def test_a_failure_is_a_status(folder):
    """On what failed and what it stands in, but not on what went on."""
    with Collector() as collector:
        run(folder, "--trace", collector.url)
    wrong = sorted(span.name for span in collector.spans if span.status == 2)
    chat = next(span for span in collector.spans if span.status == 2 and "chat" in span.name)

    assert ["chat s.json", "invoke_agent summarize"] == wrong
    assert ("llm_error", "TASK_FAILURE llm_error") == (chat.facts["error.type"], chat.words)


def test_a_model_call_has_the_facts_of_the_conventions(folder):
    """Who answered, what was asked for and what it took."""
    with Collector() as collector:
        run(folder, "--trace", collector.url)
    chats = [span for span in collector.spans if span.facts.get("gen_ai.usage.output_tokens")]

    (chat,) = chats
    assert 3 == chat.kind  # CLIENT
    assert {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "s.json",
        "gen_ai.response.finish_reasons": ["end_turn"],
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 4,
        "gen_ai.agent.name": "summarize",
    }.items() <= chat.facts.items()


def test_langfuse_takes_it(folder):
    """By plain OTLP: its path, its key, and a parent that stands elsewhere. What says which kind of
    observation a span is, and its model and tokens, is there."""
    with Collector() as collector:
        done = run(
            folder,
            OTEL_EXPORTER_OTLP_ENDPOINT=f"{collector.url}/api/public/otel",
            OTEL_EXPORTER_OTLP_HEADERS=f"Authorization=Basic%20{KEY}",
            OTEL_SERVICE_NAME="garden",
            TRACEPARENT="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        )
    root = collector.named("invoke_workflow p.sexp")
    headers = collector.headers[0]
    doing = {span.facts.get("gen_ai.operation.name") for span in collector.spans}

    assert 0 == done.returncode
    assert ["/api/public/otel/v1/traces"] == sorted({*collector.paths})
    assert f"Basic {KEY}" == headers["authorization"]
    assert "application/x-protobuf" == headers["content-type"]
    assert {"0af7651916cd43dd8448eb211c80319c"} == {span.trace for span in collector.spans}
    assert "b7ad6b7169203331" == root.parent
    assert {"invoke_workflow", "invoke_agent", "chat", "execute_tool", None} == doing
    assert "garden" == root.resource["service.name"]
    # Its own library keeps only spans with such a fact, and parents must not be missing.
    assert all(any(key.startswith("gen_ai.") for key in each.facts) for each in collector.spans)


def test_content_stays_here(folder):
    """Neither prompts nor replies, files or lines of logs are sent, unless somebody asks for it."""
    with Collector() as collector:
        run(folder, "--trace", collector.url)

    for words in (b"leaves", b"steeped", b"secret of tea", b"begin", b"tea.txt"):
        assert words not in collector.raw, words


def test_content_is_sent_where_it_is_asked_for(folder):
    """In the form that the conventions have, by the variable that they name."""
    variable = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY"}
    with Collector() as collector:
        run(folder, "--trace", collector.url, **variable)
    (chat,) = [span for span in collector.spans if span.facts.get("gen_ai.usage.output_tokens")]
    asked = json.loads(chat.facts["gen_ai.input.messages"])
    tool = collector.named("execute_tool read-file")

    assert ["user", "assistant", "user"] == [each["role"] for each in asked]
    assert {"type": "text", "content": "Summarize the leaves"} in asked[0]["parts"]
    assert "tool_call" == asked[1]["parts"][-1]["type"]
    assert "tool_call_response" == asked[2]["parts"][0]["type"]
    said = [{"type": "text", "content": "steeped tea"}]
    (reply,) = json.loads(chat.facts["gen_ai.output.messages"])
    assert {"role": "assistant", "parts": said, "finish_reason": "end_turn"} == reply
    assert "tea.txt" == tool.facts["gen_ai.tool.call.arguments"]
    assert "the secret of tea" == tool.facts["gen_ai.tool.call.result"]


def test_keys_are_in_no_span(folder):
    """Though a program finds them somewhere and the content is sent."""
    (folder / "tea.txt").write_text(f"keys: sk-ant-canary-123456 and {KEY}")
    with Collector() as collector:
        run(
            folder,
            *("--trace", collector.url),
            ANTHROPIC_API_KEY="sk-ant-canary-123456",
            OTEL_EXPORTER_OTLP_HEADERS=f"Authorization=Basic%20{KEY}",
            OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true",
        )
    result = collector.named("execute_tool read-file").facts["gen_ai.tool.call.result"]

    assert "keys: [redacted] and [redacted]" == result
    assert b"canary" not in collector.raw
    assert KEY.encode() not in collector.raw


def test_a_file_gets_lines_of_json(folder):
    """Each of them a delivery in the protocol's own form, added to what is there."""
    run(folder, "--trace", "spans.jsonl")
    once = (folder / "spans.jsonl").read_text().splitlines()
    run(folder, "--trace", "spans.jsonl")
    lines = (folder / "spans.jsonl").read_text().splitlines()
    first = json.loads(lines[0])["resourceSpans"][0]["scopeSpans"][0]

    assert once == lines[: len(once)]
    assert len(once) < len(lines)
    assert "sexplang" == first["scope"]["name"]
    assert "execute_tool log" in [span["name"] for span in first["spans"]]
    assert 0o600 == (folder / "spans.jsonl").stat().st_mode & 0o777


def test_a_file_that_cannot_be_written_stops_the_run(folder):
    """Before anything happens."""
    done = run(folder, "--trace", "nowhere/spans.jsonl")

    assert 1 == done.returncode
    assert "error[trace-failed]" in done.stderr
    assert "begin" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--record", "r.jsonl", "--trace", "r.jsonl"], "--record and --trace name the same file"),
        (["--record", "r.jsonl", "--trace", "./r.jsonl"], "--record and --trace name the same"),
        (["--trace", ""], "--trace names no file"),
        (["--record", ""], "--record names no file"),
        (["--budget", ""], "`` is no bound of a budget"),
        (["--budget", "seconds=1" + 400 * "0"], "is no bound of a budget"),
        (["--budget", "calls=3,calls=4"], "the bound `calls` of the budget is given twice"),
    ],
    ids=str,
)
def test_misuse_is_told_before_anything_happens(folder, words, said):
    """And no file is made."""
    done = run(folder, *words)

    assert (2, "", True) == (done.returncode, done.stdout, said in done.stderr)
    assert "begin" not in done.stderr
    assert not (folder / "r.jsonl").exists()


def test_an_address_of_another_kind_is_no_file(folder):
    """It is said which kinds there are."""
    done = run(folder, "--trace", "ftp://x")

    assert (1, "") == (done.returncode, done.stdout)
    assert "error[trace-failed]: the traces cannot be sent to ftp://x" in done.stderr
    assert "http:// or https://" in done.stderr


@pytest.mark.parametrize(
    "environment",
    [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}],
    ids=["all off", "no traces"],
)
def test_the_environment_turns_it_off(folder, environment):
    """Who turns traces off gets none."""
    with Collector() as collector:
        done = run(folder, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, **environment)

    assert ("1\n", []) == (done.stdout, collector.paths)
    assert "trace_id" not in done.stderr


def test_a_sampled_out_parent_is_respected(folder):
    """A host that does not record this trace gets nothing of it."""
    with Collector() as collector:
        run(
            folder,
            *("--trace", collector.url),
            TRACEPARENT="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
        )

    assert [] == collector.spans


def test_a_replayed_run_says_so(folder):
    """Nobody was asked."""
    run(folder, "--record", "run.jsonl")
    with Collector() as collector:
        words = ("--model", "replay:run.jsonl", "--trace", collector.url)
        done = sexplang("run", "p.sexp", *words, cwd=folder)
    chats = [span for span in collector.spans if span.name.startswith("chat")]

    assert "1\n" == done.stdout
    assert 3 == len(chats)
    assert all(span.facts["sexplang.replayed"] for span in chats)


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "=grpc is not spoken: spans go by http/protobuf"),
        ({"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, "=http/json is not spoken"),
        ({"OTEL_TRACES_SAMPLER": "bogus"}, "=bogus is not known: every run is traced"),
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "=zipkin is not known here"),
        (
            {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "half"},
            "=half is no share of the runs",
        ),
    ],
)
def test_what_the_environment_wishes_for_and_is_not_done_is_said(variable, said):
    """In one line, that says what to set; the spans go out all the same."""
    with Collector() as collector:
        variable |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        done = sexplang("run", "-e", "(+ 1 2)", **variable)

    (line,) = done.stderr.splitlines()
    assert line.startswith("warning: OTEL_") and said in line and "set" in line
    assert collector.spans


@pytest.mark.parametrize(
    "variable",
    [
        {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
        {
            "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
        },
        {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "1.0"},
        {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_TRACES_SAMPLER": "always_on"},
    ],
)
def test_what_is_done_as_wished_is_not_spoken_of(variable):
    """Nor what another variable overrules."""
    with Collector() as collector:
        variable |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        done = sexplang("run", "-e", "(+ 1 2)", **variable)

    assert "" == done.stderr
    assert collector.spans


WITHOUT = "import sys; sys.modules['opentelemetry.sdk'] = None; " + (
    "from sexplang.hosts import main; sys.exit(main(sys.argv[1:]))"
)


def test_without_the_libraries_the_environment_is_told(folder):
    """The run goes on; who asked by name is refused."""
    command = [sys.executable, "-c", WITHOUT, "run", "-e", "(+ 1 2)"]
    variable = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "PYTHONPATH": str(ROOT)}
    options = {"cwd": folder, "capture_output": True, "text": True}
    told = subprocess.run(command, env=variable, **options)
    asked = subprocess.run([*command, "--trace", "x.jsonl"], env=variable, **options)

    assert ("3\n", 0) == (told.stdout, told.returncode)
    assert "warning: traces need OpenTelemetry, which is not installed" in told.stderr
    assert ("", 1) == (asked.stdout, asked.returncode)
    assert "error[trace-failed]" in asked.stderr
    assert "pip install 'sexplang[otel]'" in asked.stderr
