"""Random renames of locals, in a copy of the tree, under the tests of errors and trails.

What the locals of Python are called must mean nothing: an error has its place and its calls
whatever they are. Each round renames one local of a function in `machine/`, `compiler/` or
`runtime/`; a parameter only of a function within a function or of a lambda, since others may be
given by name. The status is 1 if a test fails.

    python benchmarks/renames.py [--renames 40] [--seed 1] [--together]
"""

import argparse
import ast
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("machine", "compiler", "runtime")
TESTS = tuple(
    f"tests/machine/test_machine_{name}.py" for name in ("trail", "callers", "errors", "permits")
)

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def renamed(text: str, random: Random) -> tuple[str, str] | None:
    """A text with one local of one of its functions renamed, and what was renamed; None where it
    has none."""
    tree = ast.parse(text)
    outer = [each for each in ast.walk(tree) if isinstance(each, Scope)]
    inner = {id(each) for around in outer for each in ast.walk(around) if each is not around}
    choices = [
        (scope, name) for scope in outer for name in sorted(_locals(scope, id(scope) in inner))
    ]
    if not choices:
        return None
    scope, name = random.choice(choices)
    fresh = f"{name}_{random.randrange(1_000, 10_000)}"
    lines = text.encode().splitlines(keepends=True)
    places = []
    for each in ast.walk(scope):
        word = each.id if isinstance(each, ast.Name) else getattr(each, "arg", None)
        if isinstance(each, (ast.Name, ast.arg)) and word == name:
            places.append((each.lineno, each.col_offset))
    for line, column in sorted(set(places), reverse=True):
        row = lines[line - 1]
        end = column + len(name.encode())
        lines[line - 1] = row[:column] + fresh.encode() + row[end:]
    return b"".join(lines).decode(), f"{name} in line {getattr(scope, 'lineno', 0)}"


def _locals(scope: Scope, is_inner: bool) -> set[str]:
    """The locals that a scope alone binds: no other scope in it, and nothing by keyword, has one
    of the same name."""
    args = scope.args
    own = {each.arg for each in (*args.posonlyargs, *args.args)}
    names = set(own) if is_inner or isinstance(scope, ast.Lambda) else set()
    rebound: set[str] = set()
    for each in ast.walk(scope):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            names.add(each.id)
        elif isinstance(each, (ast.Global, ast.Nonlocal)):
            rebound.update(each.names)
        elif isinstance(each, ast.keyword) and each.arg is not None:
            rebound.add(each.arg)
        elif isinstance(each, ast.ExceptHandler) and each.name is not None:
            rebound.add(each.name)
        elif isinstance(each, (ast.FunctionDef, ast.Match, ast.Import, ast.ImportFrom)):
            if each is not scope:
                rebound.update(_bound_by(each))
        elif isinstance(each, Scope) and each is not scope:
            rebound.update(arg.arg for arg in (*each.args.posonlyargs, *each.args.args))
        elif isinstance(each, ast.arg) and each.arg not in own:
            rebound.add(each.arg)
    if not is_inner and not isinstance(scope, ast.Lambda):
        rebound |= own
    return {name for name in names - rebound if not name.startswith("_")}


def _bound_by(node: ast.AST) -> set[str]:
    """The names that a definition, an import or a pattern binds."""
    found = {node.name} if isinstance(node, ast.FunctionDef) else set()
    for each in ast.walk(node):
        if isinstance(each, ast.alias):
            found.add((each.asname or each.name).partition(".")[0])
        elif isinstance(each, ast.arg):
            found.add(each.arg)
        elif isinstance(each, (ast.MatchAs, ast.MatchStar)) and each.name:
            found.add(each.name)
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            found.add(each.id)
    return found


def passes(copy: Path) -> bool:
    """Whether the tests of errors and trails pass in a copy of the tree."""
    code = "import sys; sys.path.insert(0, '.'); import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    words = ["-n", "0", "-q", "-x", "-p", "no:cacheprovider", *TESTS]
    command = [sys.executable, "-c", code, *words]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[-2_000:], done.stderr[-500:])
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--renames", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", action="store_true", help="test all of them at once only")
    options = parser.parse_args()
    random, failures = Random(options.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        ignore = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, copy, ignore=ignore)
        files = [
            file for name in FOLDERS for file in sorted((copy / "sexplang" / name).rglob("*.py"))
        ]
        for at in range(options.renames):
            made = None
            while made is None:
                file = random.choice(files)
                before = file.read_text()
                made = renamed(before, random)
            file.write_text(made[0])
            compile(made[0], str(file), "exec")
            print(f"{at + 1}: {file.relative_to(copy)}: {made[1]}", flush=True)
            if not options.together:
                failures += not passes(copy)
                file.write_text(before)
        if options.together:
            failures += not passes(copy)
    print(f"{options.renames} renames, {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    raise SystemExit(main())
