"""The operations that the host answers (language chapter 4), as functions.

`least` is the number of required arguments. `text` holds the positions where a TaskResult becomes
its content; with any number of arguments, the last position covers all that follow.
"""

from sexplang.terms.values.value import Operation


def _operation(
    name: str,
    params: str,
    doc: str,
    *,
    least: int | None = None,
    text: tuple[int, ...] = (),
    rest: bool = False,
) -> Operation:
    names = tuple(params.split())
    needed = len(names) if least is None else least
    return Operation(name, names, needed, rest, frozenset(text), doc)


OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        _operation("model", "payload", "One call of a model: (model {messages: [m]})."),
        _operation("tool", "name inputs", '(tool "lookup" {word: "tea"}).', least=1),
        _operation("subtask", "request", 'A TaskResult or text: (subtask {description: "x"}).'),
        _operation("subplan", "plan", "The results of a plan of subtasks: (subplan plan)."),
        _operation("compact", "messages used limit", "Messages that fit a window."),
        _operation(
            "ask-user", "prompt choices", '(ask-user "Go on?" ["yes" "no"]).', least=1, text=(0,)
        ),
        _operation(
            "read-file", "path encoding", 'A file\'s text: (read-file "a.txt").', least=1, text=(0,)
        ),
        _operation("write-file", "path text", '(write-file "a.txt" "tea").', text=(0, 1)),
        _operation(
            "list-files",
            "glob",
            'Paths: (list-files "*.md") or (list-files ["find" "docs" "-name" "*.md"]).',
            text=(0,),
        ),
        _operation(
            "run-script",
            "command args input timeout",
            'Its exit code and output, no shell: (run-script "wc" ["-l"] text).',
            least=1,
            text=(0, 2),
        ),
        _operation("search-memory", "query", '(search-memory "tea").', text=(0,)),
        _operation("now", "", "UTC seconds: (now)."),
        _operation("sleep", "seconds", "Waits: (sleep 0.5)."),
        _operation("wait-until", "time", "Waits until then: (wait-until (+ (now) 86400))."),
        _operation("random", "n", "In [0,1), or an integer in [0,n): (random 6).", least=0),
        _operation("log", "level text", '(log \'info "begun").', text=(1,)),
        _operation("print", "value", '(print "n is" 3).', least=0, text=(0,), rest=True),
        _operation("progress", "text fraction", '(progress "reading" 0.5).', least=1, text=(0,)),
    )
}
