"""The clauses of a task: how each is written, what it says, and a task with it.

Only a task has them, so a clause may have the name of a function: `model`.
"""

from collections.abc import Mapping
from functools import cache

from sexplang.hosts.reference.name_entries import LANGUAGE, Entry, Example

KIND = "clause"

_ROWS: dict[str, tuple[str, str, str]] = {
    "params": (
        "(params name … (name T default: v doc: words) …)",
        "The parameters of the task: a name, or a name with its type, default and doc.",
        '(params (text string) (style string default: "plain"))',
    ),
    "instructions": (
        "(instructions text)",
        "The prompt. `{{name}}` stands for a parameter.",
        '(instructions "Summarize: {{text}}")',
    ),
    "system": (
        "(system text)",
        "The system prompt: who the model is, and rules that hold for each call.",
        '(system "You are brief.")',
    ),
    "description": (
        "(description text)",
        "What the task does; a model that may ask for it, or has it as a tool, chooses by it.",
        '(description "Summarizes a text.")',
    ),
    "criteria": (
        "(criteria text)",
        "What the task is good for; requests find it by these words, too.",
        '(criteria "Short texts without opinions.")',
    ),
    "subtype": (
        "(subtype word)",
        "The kind of the task, by which it may be asked for: standard director evaluator subtask "
        "and others.",
        "(subtype evaluator)",
    ),
    "model": (
        "(model name)",
        "The model of the task: a role such as fast, or a model's id. `--model fast=M` says who "
        "that is.",
        '(model "fast")',
    ),
    "provider": (
        "(provider name)",
        "The provider of the model's id: the model is `provider:model`.",
        "(provider anthropic)",
    ),
    "returns": (
        "(returns T)",
        "The type of the answer: the reply is parsed, checked, and asked for again where it does "
        "not fit.",
        '(returns {kind: (one-of "bug" "idea")  note?: string})',
    ),
    "validate": (
        "(validate f)",
        "A function that checks the answer: nil, or a text that the model is told before it "
        "replies again.",
        "(validate flaw)",
    ),
    "output_format": (
        "(output_format type: word schema: s)",
        "The format of the reply: text, json or xml, with a schema. `returns` is shorter.",
        "(output_format type: json schema: object)",
    ),
    "allowed_tools": (
        "(allowed_tools name … (in-order name …))",
        "The tools that the model may call: tools of the language, functions with a doc, tasks, "
        "and those of servers. Those in `in-order` are called one after the other.",
        "(allowed_tools read_file look-up (in-order note))",
    ),
    "subtasks": (
        "(subtasks task …)",
        "The tasks that the model may ask for with `spawn_subtask`; without it all public ones.",
        "(subtasks summarize)",
    ),
    "options": (
        "(options temperature: 0 stop_sequences: [text] effort: word thinking: n cache: b)",
        "Settings of the model's calls: temperature, thinking, effort; also top_p top_k seed "
        "tool_choice metadata service_tier provider.",
        "(options temperature: 0 effort: low)",
    ),
    "limits": (
        "(limits max_turns: n max_output_tokens: n timeout: seconds)",
        "What a conversation may take: turns, the length of a reply in tokens, a timeout; also "
        "max_depth max_subtasks max_decompositions max_plan_depth.",
        "(limits max_turns: 5 max_output_tokens: 500 timeout: 60)",
    ),
    "file_paths": (
        "(file_paths path …)\n(file_paths command: text)\n(file_paths description: text)",
        "Files that the model sees: by their paths, by a command that lists them, or by a search.",
        '(file_paths "style.md" "rules.md")',
    ),
    "context_management": (
        "(context_management inherit_context: word accumulate_data: b accumulation_format: word "
        "fresh_context: word)",
        "What a conversation sees of others: inherited files, earlier results, a search.",
        "(context_management inherit_context: none fresh_context: enabled)",
    ),
    "context_relevance": (
        "(context_relevance param: b …)",
        "Which parameters a search for files sees.",
        "(context_relevance style: false)",
    ),
    "context_assembly": (
        "(context_assembly primary_elements: text secondary_elements: text excluded_elements: "
        "text)",
        "The order of what the model sees beside the prompt, and what is left out.",
        '(context_assembly primary_elements: "rules.md")',
    ),
    "history_config": (
        "(history_config use_session_history: b history_turns_to_include: n "
        "record_in_session_history: b)",
        "What is sent and noted of earlier turns, where a call gives a history.",
        "(history_config history_turns_to_include: 5)",
    ),
    "ref": ("(ref name)", "A name by which other documents refer to the task.", "(ref summary)"),
    "manual_xml": (
        "(manual_xml b)",
        "The program reads an XML reply itself: it stays text, and is not checked.",
        "(manual_xml true)",
    ),
    "disable_reparsing": (
        "(disable_reparsing b)",
        "The model is asked once: an XML reply that cannot be read stays text, with a warning.",
        "(disable_reparsing true)",
    ),
}


@cache
def clauses() -> Mapping[str, Entry]:
    """Return the entries of the clauses of a task, by name."""
    return {
        name: Entry(name, KIND, LANGUAGE, signature, doc, (Example(example, None),), ())
        for name, (signature, doc, example) in _ROWS.items()
    }
