"""The tool by which a model proposes a plan: its description and the schema of its input."""

from sexplang.terms.values.value import Value

REASONS = ("TooLarge", "MissingInfo", "DependencyDiscovered", "Ambiguity", "ExternalToolRequired")
"""The reasons to decompose a task. The first is the default."""

KINDS = ("AllSubtasksComplete", "FirstSuccess", "UserDecision")
"""The conditions under which a plan is done. The first is the default."""

_TEXT: Value = {"type": "string"}
_TEXTS: Value = {"type": "array", "items": _TEXT}

INPUTS = (
    "the inputs of the task by name; where they are left out, a task that needs one text has the "
    "description for it"
)
"""The description of a subtask's inputs."""

ARTIFACTS: Value = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": _TEXT, "type": _TEXT, "text": _TEXT, "path": _TEXT},
        "required": ("name",),
    },
    "description": "what of the task is done already; needed from the second subplan on",
}

_SUBTASK: Value = {
    "type": "object",
    "properties": {
        "description": {"type": "string", "description": "what is to be done, in one sentence"},
        "inputs": {"type": "object", "description": INPUTS},
        "name": {"type": "string", "description": "the name of the task to run, if it is known"},
        "required_capabilities": {**_TEXTS, "description": "what whoever does it has to know"},
        "depends_on_subtasks": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0},
            "description": "which subtasks of this list come before, by index from 0",
        },
        "budget_cap": {
            "type": "object",
            "properties": {
                "seconds": {"type": "number"},
                "calls": {"type": "integer"},
                "tokens": {"type": "integer"},
                "usd": {"type": "number"},
            },
            "description": "the most that the subtask may take; all together, what you have left. "
            "Subtasks without seconds share all the seconds that are left",
        },
        "expected_output_types": {**_TEXTS, "description": "the types of artifacts it must give"},
        "expected_files": {**_TEXTS, "description": "paths of artifacts that it must give"},
        "owned_paths": {**_TEXTS, "description": "paths that no other subtask may work on then"},
    },
    "required": ("description",),
}

PROPOSE: dict[str, Value] = {
    "description": "Proposes to take this task apart into subtasks that others do, and gives their "
    "results. It may be refused with a reason: propose something simpler then, or do the task "
    "yourself.",
    "input_schema": {
        "type": "object",
        "properties": {
            "reason": {"enum": REASONS},
            "subtasks": {"type": "array", "items": _SUBTASK, "minItems": 1},
            "stop_when": {
                "type": "object",
                "properties": {"kind": {"enum": KINDS}, "description": _TEXT},
                "required": ("kind",),
            },
            "artifacts": ARTIFACTS,
        },
        "required": ("reason", "subtasks"),
    },
}
"""The tool `propose_subplan`."""
