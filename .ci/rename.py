"""Apply tables of renames to the tree: modules, classes, functions, methods and fields.

A table is a text file of lines `old<TAB>new`. `old` is the full name of a module
(`sexplang.machine.cutting`), or of a definition in one (`sexplang.machine.weave.Turn.told`,
`support.running.built`, a function in a function by the path of both). `new` is the full name of
the module that it becomes (it may move to another folder), or the new last name of the definition.
Full names are those of the tree before. A line that begins with `#` is a remark.

Names are resolved by mypy, over `sexplang`, `tests` and `benchmarks` as one build. A method is
renamed with those that it overrides and those that override it. Texts that hold the path of a
module (`machine/cutting.py`, `sexplang.machine.cutting`) follow, and so do the planted bugs, whose
rows hold pieces of source. What cannot be resolved is printed, and changed nowhere.

    python .ci/rename.py TABLE… [--dry]
"""

import argparse
import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from mypy import build, nodes, options, types

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("sexplang", "tests", "benchmarks")
TEXTS = ("*.py", "*.md", "*.toml", "*.sexp", "*.xml", "*.txt", "*.json", "*.lark")
SKIPPED = {".venv", ".git", "__pycache__", ".mypy_cache", ".ruff_cache", ".hypothesis"}

Edits = dict[Path, dict[tuple[int, int], tuple[str, str]]]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--dry", action="store_true", help="print what cannot be resolved")
    arguments = parser.parse_args()

    table = read_tables(arguments.tables)
    result = analyse()
    tree = Tree(result, table)
    tree.collect()
    for remark in tree.remarks:
        print(remark)
    print(f"{len(table)} rows, {sum(map(len, tree.edits.values()))} edits")
    if arguments.dry:
        return 0
    planted = PlantedBugs(tree.edits)
    for path, edits in tree.edits.items():
        path.write_text(applied(path.read_text(), edits))
    planted.write()
    move_modules(tree.modules)
    return 0


def read_tables(paths: list[Path]) -> dict[str, str]:
    table: dict[str, str] = {}
    for path in paths:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            cells = line.split("\t")
            if len(cells) < 2 or not cells[1].strip():
                print(f"{path}:{number}: no new name")
                continue
            old, new = cells[0].strip(), cells[1].strip()
            if table.get(old, new) != new:
                print(f"{path}:{number}: {old} is {table[old]} already")
                continue
            table[old] = new
    return table


def analyse() -> Any:
    """One build of everything, with the types of all expressions."""
    settings = options.Options()
    settings.python_version = (3, 11)
    settings.export_types = settings.preserve_asts = True
    settings.check_untyped_defs = True
    settings.allow_redefinition = True
    settings.ignore_missing_imports = True
    settings.incremental = False
    settings.namespace_packages = True
    settings.explicit_package_bases = True
    settings.mypy_path = [str(ROOT), str(ROOT / "tests")]
    settings.cache_dir = "/dev/null"
    settings.follow_imports = "skip"  # of other packages, types are not needed
    sources = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if SKIPPED.isdisjoint(path.parts):
                sources.append(build.BuildSource(str(path), module_of(path)))
    return build.build(sources, settings, alt_lib_path=None)


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] == "tests":
        parts = parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "__init__"


class Tree:
    """The definitions that are renamed, and every place that names one of them."""

    def __init__(self, result: Any, table: dict[str, str]) -> None:
        self.types, self.remarks = result.types, []
        self.files = {
            name: file
            for name, file in result.files.items()
            if file.path
            and Path(file.path).is_absolute()
            and ROOT in Path(file.path).parents
            and SKIPPED.isdisjoint(Path(file.path).parts)
        }
        self.modules: dict[str, str] = {}
        self.nodes: dict[int, str] = {}
        self.members: dict[str, str] = {}
        self.loose: dict[str, set[str]] = defaultdict(set)
        self.edits: Edits = defaultdict(dict)
        self.kept: list[Any] = []
        self.table = table

    def collect(self) -> None:
        for name in self.table:
            if name in self.files:
                self.modules[name] = self.table[name]
        for name, file in self.files.items():
            self.enter(name, file)
        self.follow_overrides()
        self.hierarchy_checked = True
        for file in self.files.values():
            self.visit_file(file)
        for old in self.table:
            if old not in self.modules and old not in self.found:
                self.remarks.append(f"not found: {old}")

    # Definitions.

    found: set[str]

    def enter(self, module: str, file: Any) -> None:
        if not hasattr(self, "found"):
            self.found = set()
            self.classes: dict[str, Any] = {}
        for prefix, node in definitions(module, file):
            if isinstance(node, nodes.ClassDef) and has_order(node.info):
                self.classes[node.fullname] = node.info
            new = self.table.get(prefix)
            if new is None:
                continue
            self.found.add(prefix)
            self.nodes[id(node)] = new
            self.kept.append(node)
            for same in alternates(node):
                self.nodes[id(same)] = new
                self.kept.append(same)
        for name, symbol in file.names.items():
            if isinstance(symbol.node, nodes.Var) and symbol.node.fullname == f"{module}.{name}":
                new = self.table.get(f"{module}.{name}")
                if new is not None:
                    self.found.add(f"{module}.{name}")
                    self.nodes[id(symbol.node)] = new
                    self.kept.append(symbol.node)

    def follow_overrides(self) -> None:
        """Members by the class that defines them, with the classes above and below."""
        below = defaultdict(set)
        for info in self.classes.values():
            for base in info.mro[1:]:
                below[base.fullname].add(info)
        for full, info in self.classes.items():
            for name in info.names:
                new = self.table.get(f"{full}.{name}")
                if new is None:
                    continue
                self.found.add(f"{full}.{name}")
                family = {info, *info.mro, *below[full]}
                for base in info.mro:
                    if name in base.names:
                        family |= below[base.fullname]
                for one in family:
                    if name in one.names and one.fullname in self.classes:
                        self.members[f"{one.fullname}.{name}"] = new
                        self.found.add(f"{one.fullname}.{name}")
        for full, new in self.members.items():
            self.loose[full.rsplit(".", 1)[1]].add(new)

    def member(self, info: Any, name: str) -> str | None:
        for base in info.mro:
            if name in base.names:
                return self.members.get(f"{base.fullname}.{name}")
        return None

    # References.

    def visit_file(self, file: Any) -> None:
        self.path, self.module = Path(file.path), file.fullname
        self.text = self.path.read_text()
        self.lines = self.text.splitlines(keepends=True)
        self.tokens = names_of(self.text)
        for each in file.defs:
            self.walk(each)

    def walk(self, node: Any) -> None:
        """Every node below one, before what is below it."""
        kept = [node]
        while kept:
            node = kept.pop()
            visit = VISITS.get(type(node).__name__)
            if visit is not None:
                visit(self, node)
            kept += children(node)

    def edit(self, line: int, column: int, old: str, new: str) -> None:
        if old == new:
            return
        found = self.lines[line - 1][column : column + len(old)] if line <= len(self.lines) else ""
        if found != old:
            # Python 3.11 misplaces what stands in an f-string.
            text = self.lines[line - 1] if line <= len(self.lines) else ""
            places = [match.start() for match in re.finditer(rf"\b{old}\b", text)]
            if len(places) == 1:
                self.edits[self.path][line, places[0]] = (old, new)
                return
            self.remarks.append(f"{self.path}:{line}:{column}: expected {old}, found {found!r}")
            return
        self.edits[self.path][line, column] = (old, new)

    def next_name(self, line: int, column: int, name: str) -> tuple[int, int] | None:
        for at in self.tokens.get(name, ()):
            if at >= (line, column):
                return at
        return None

    def rename_definition(self, node: Any, name: str) -> None:
        new = self.nodes.get(id(node))
        if new is None and getattr(node, "info", None):
            new = self.members.get(f"{node.info.fullname}.{name}")
        if new is None:
            return
        at = self.next_name(node.line, max(node.column, 0), name)
        if at:
            self.edit(*at, name, new)

    def visit_func_def(self, node: Any) -> None:
        self.rename_definition(node, node.name)
        kind = node.unanalyzed_type
        if kind is not None:
            for each in (*kind.arg_types, kind.ret_type):
                self.annotation(each)

    def visit_class_def(self, node: Any) -> None:
        self.rename_definition(node, node.name)

    def visit_name_expr(self, node: Any) -> None:
        new = self.named(node.node)
        target = getattr(node.node, "name", None)
        if isinstance(node.node, nodes.MypyFile):
            target = target.rpartition(".")[2]
        if new and target == node.name:  # no alias
            self.edit(node.line, self.column(node.line, node.column), node.name, new)

    def column(self, line: int, at: int) -> int:
        """The column in characters of one in bytes."""
        text = self.lines[line - 1]
        return at if text.isascii() else len(text.encode()[:at].decode())

    def named(self, target: Any) -> str | None:
        if target is None:
            return None
        if isinstance(target, nodes.MypyFile):
            new = self.modules.get(target.fullname)
            return new.rsplit(".", 1)[-1] if new else None
        new = self.nodes.get(id(target))
        if new is None and isinstance(target, nodes.TypeInfo):
            new = self.nodes.get(id(target.defn))
        if new is None and isinstance(target, nodes.TypeAlias):
            new = self.table.get(target.fullname)
        if new is None and isinstance(target, nodes.Var) and getattr(target, "info", None):
            new = self.members.get(f"{target.info.fullname}.{target.name}")
        if new is None and isinstance(target, nodes.Var) and target.fullname in self.table:
            new = self.table[target.fullname]
            self.found.add(target.fullname)
        return new

    def visit_member_expr(self, node: Any) -> None:
        new = self.named(node.node) if node.node is not None else None
        if new is None:
            kind = self.types.get(node.expr)
            owners = list(infos(kind))
            news = {self.member(info, node.name) for info in owners} - {None}
            if len(news) > 1:
                self.remarks.append(f"{self.path}:{node.line}: {node.name} is {news}")
            elif news:
                new = news.pop()
            elif node.name in self.loose and not owners:
                self.remarks.append(f"{self.path}:{node.line}: unresolved .{node.name}")
        if new:
            line, column = node.end_line, self.column(node.end_line, node.end_column)
            self.edit(line, column - len(node.name), node.name, new)

    def visit_call_expr(self, node: Any) -> None:
        if any(node.arg_names):
            owners = self.constructed(node)
            for name, argument in zip(node.arg_names, node.args, strict=True):
                if name is None or name not in self.loose:
                    continue
                news = {self.member(info, name) for info in owners} - {None}
                if news:
                    self.keyword(argument, name, news.pop())

    def constructed(self, node: Any) -> list[Any]:
        """The class that a call makes an instance of, or the classes that `evolve` is given."""
        callee = node.callee
        target = getattr(callee, "node", None)
        if isinstance(target, nodes.TypeInfo):
            return [target]
        if getattr(callee, "name", "") == "evolve" and node.args:
            return list(infos(self.types.get(node.args[0])))
        kind = types.get_proper_type(self.types.get(callee))
        if isinstance(kind, types.CallableType) and kind.is_type_obj():
            return [kind.type_object()]
        return []

    def keyword(self, argument: Any, name: str, new: str) -> None:
        before = [at for at in self.tokens.get(name, ()) if at < (argument.line, argument.column)]
        if before:
            self.edit(*before[-1], name, new)

    def visit_class_pattern(self, node: Any) -> None:
        target = getattr(node.class_ref, "node", None)
        if isinstance(target, nodes.TypeInfo):
            for name, value in zip(node.keyword_keys, node.keyword_values, strict=True):
                new = self.member(target, name)
                if new:
                    self.keyword(value, name, new)

    def visit_assignment_stmt(self, node: Any) -> None:
        self.annotation(node.unanalyzed_type)
        if getattr(node.lvalues[0], "name", "") == "__all__":
            for item in getattr(node.rvalue, "items", ()):
                name = getattr(item, "value", "")
                new = self.named(self.lookup(name)) if name else None
                if new:
                    self.quoted(item.line, name, new)

    def visit_import(self, node: Any) -> None:
        for name, _ in node.ids:
            if name in self.modules:
                self.dotted(node, name)

    def dotted(self, node: Any, name: str, new: str | None = None) -> None:
        for line in range(node.line, (node.end_line or node.line) + 1):
            for match in re.finditer(
                rf"(?<![\w.]){re.escape(name)}(?![\w.])", self.lines[line - 1]
            ):
                self.edit(line, match.start(), name, new or self.modules[name])
                return

    def visit_import_from(self, node: Any) -> None:
        source, module = node.id, self.files.get(node.id)
        moved = self.modules.get(source)
        parents = {
            self.modules.get(f"{source}.{name}", f"{source}.{name}").rpartition(".")[0]
            if self.is_module(source, name)
            else moved or source
            for name, _ in node.names
        }
        if len(parents) > 1:
            self.remarks.append(f"{self.path}:{node.line}: one import of {source} becomes several")
        elif parents != {source}:
            self.dotted(node, source, parents.pop())
        for name, _ in node.names:
            inner = f"{source}.{name}"
            if inner in self.modules and self.is_module(source, name):
                new = self.modules[inner].rpartition(".")[2]
                self.import_name(node, name, new)
            elif module is not None and name in module.names:
                new = self.named(module.names[name].node)
                if new:
                    self.import_name(node, name, new)

    def is_module(self, source: str, name: str) -> bool:
        """Whether an import of a name is that of a module, not of what is called like one."""
        package = self.files.get(source)
        symbol = package.names.get(name) if package is not None else None
        is_other = symbol is not None and not isinstance(symbol.node, nodes.MypyFile)
        return f"{source}.{name}" in self.files and not is_other

    def import_name(self, node: Any, name: str, new: str) -> None:
        start = self.next_name(node.line, node.column, "import")
        at = self.next_name(*start, name) if start else None
        if at and at[0] <= (node.end_line or node.line):
            self.edit(*at, name, new)

    def annotation(self, kind: Any) -> None:
        """Names in a type as it is written."""
        if kind is None:
            return
        for each in unbound(kind):
            symbol = self.lookup(each.name)
            if symbol is None:
                continue
            last = each.name.rsplit(".", 1)[-1]
            new = self.named(symbol)
            first = self.lookup(each.name.split(".")[0])
            if "." in each.name and isinstance(first, nodes.MypyFile) and self.named(first):
                at = self.next_name(each.line, each.column, each.name.split(".")[0])
                if at:
                    self.edit(*at, each.name.split(".")[0], self.named(first) or "")
            if new and each.line > 0:
                at = self.next_name(each.line, each.column, last)
                if at and at[0] == each.line:
                    self.edit(*at, last, new)
                else:
                    self.quoted(each.line, last, new)

    def quoted(self, line: int, old: str, new: str) -> None:
        """A name in a type that is written as a string."""
        pattern = rf"""["'][^"']*?\b({old})\b[^"']*["']"""
        for match in re.finditer(pattern, self.lines[line - 1]):
            self.edit(line, match.start(1), old, new)

    def lookup(self, name: str) -> Any:
        parts = name.split(".")
        file = self.files[self.module]
        symbol = file.names.get(parts[0])
        for part in parts[1:]:
            target = symbol.node if symbol else None
            names = getattr(target, "names", {})
            symbol = names.get(part)
        return symbol.node if symbol else None


def definitions(prefix: str, node: Any) -> Iterator[tuple[str, Any]]:
    """All functions and classes below a node, with their paths."""
    for each in walk_definitions(node):
        inner = getattr(each, "func", each)
        name = f"{prefix}.{inner.name}"
        yield name, each
        yield from definitions(name, inner)


def has_order(info: Any) -> bool:
    """Whether mypy has looked at a class; not where it cannot be reached."""
    try:
        return bool(info.mro)
    except AttributeError:
        return False


def walk_definitions(node: Any) -> list[Any]:
    """The functions and classes in a node that stand in no other of them."""
    if isinstance(node, nodes.MypyFile):
        kept = list(node.defs)
    elif isinstance(node, nodes.ClassDef):
        kept = [node.defs]
    elif isinstance(node, nodes.FuncDef):
        kept = [node.body]
    else:
        kept = []
    found: list[Any] = []
    while kept:
        each = kept.pop()
        if isinstance(
            each, (nodes.FuncDef, nodes.ClassDef, nodes.Decorator, nodes.OverloadedFuncDef)
        ):
            found.append(each)
        else:
            kept += children(each)
    return found


ELSEWHERE = {"node", "info", "type", "analyzed", "expanded", "defn", "special_alias", "impl"}
"""What a node refers to without holding it."""

_PARTS: dict[type, list[str]] = {}


def children(node: Any) -> list[Any]:
    """The nodes that a node holds."""
    kind = type(node)
    if kind not in _PARTS:
        _PARTS[kind] = [
            name
            for name in dir(kind)
            if not name.startswith("__")
            and name not in ELSEWHERE
            and type(getattr(kind, name)).__name__ in ("getset_descriptor", "member_descriptor")
        ]
    found: list[Any] = []
    for name in _PARTS[kind]:
        try:
            gather(getattr(node, name), found)
        except AttributeError:
            continue
    return found


def gather(value: Any, found: list[Any]) -> None:
    if isinstance(value, nodes.MypyFile | nodes.TypeInfo | nodes.Var):
        return
    if isinstance(value, nodes.Node):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for each in value:
            gather(each, found)


def alternates(node: Any) -> Iterator[Any]:
    """What stands for the same definition elsewhere in mypy's tree."""
    if isinstance(node, nodes.ClassDef):
        yield node.info
    if isinstance(node, nodes.Decorator):
        yield node.func
        yield node.var
    if isinstance(node, nodes.OverloadedFuncDef):
        for item in node.items:
            yield item
            yield from alternates(item)
        if node.impl is not None:
            yield node.impl
            yield from alternates(node.impl)


def infos(kind: Any) -> Iterator[Any]:
    """The classes whose member an attribute of a value of this type is."""
    kind = types.get_proper_type(kind)
    if isinstance(kind, types.Instance):
        yield kind.type
    elif isinstance(kind, types.UnionType):
        for item in kind.items:
            yield from infos(item)
    elif isinstance(kind, types.TupleType):
        yield kind.partial_fallback.type
    elif isinstance(kind, types.TypeType):
        yield from infos(kind.item)
    elif isinstance(kind, types.TypeVarType):
        yield from infos(kind.upper_bound)
    elif isinstance(kind, types.CallableType) and kind.is_type_obj():
        yield kind.type_object()
    elif isinstance(kind, types.LiteralType):
        yield from infos(kind.fallback)


def unbound(kind: Any) -> Iterator[Any]:
    if isinstance(kind, types.UnboundType):
        yield kind
        for each in kind.args:
            yield from unbound(each)
    elif isinstance(kind, types.UnionType):
        for each in kind.items:
            yield from unbound(each)
    elif isinstance(kind, types.CallableType):
        for each in kind.arg_types:
            yield from unbound(each)
        yield from unbound(kind.ret_type)
    elif isinstance(kind, (types.TypeList, types.TupleType)):
        for each in kind.items:
            yield from unbound(each)
    elif isinstance(kind, types.CallableArgument):
        yield from unbound(kind.typ)
    elif isinstance(kind, types.UnpackType):
        yield from unbound(kind.type)


def names_of(text: str) -> dict[str, list[tuple[int, int]]]:
    """Each name of a text to where it stands."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            found[token.string].append(token.start)
    return found


def applied(text: str, edits: dict[tuple[int, int], tuple[str, str]]) -> str:
    lines = text.splitlines(keepends=True)
    for (line, column), (old, new) in sorted(edits.items(), reverse=True):
        row = lines[line - 1]
        lines[line - 1] = row[:column] + new + row[column + len(old) :]
    return "".join(lines)


class PlantedBugs:
    """The rows of planted bugs: each piece of source follows the edits of its file."""

    def __init__(self, edits: Edits) -> None:
        self.files: dict[Path, list[tuple[str, str]]] = {}
        folder = ROOT / "tests" / "planted"
        sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
        self.changes: list[tuple[str, str]] = []
        for path in sorted(folder.glob("bugs*.py")):
            scope: dict[str, Any] = {}
            name = f"planted.{path.stem}"
            scope = vars(__import__(name, fromlist=["*"]))
            rows = [r for v in scope.values() if isinstance(v, (list, tuple)) for r in v]
            for bug in rows:
                if hasattr(bug, "changes"):
                    self.follow(bug, edits)
        self.paths = sorted(folder.glob("bugs*.py"))

    def follow(self, bug: Any, edits: Edits) -> None:
        path = ROOT / "sexplang" / bug.file
        text = path.read_text()
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        here = {starts[line - 1] + column: pair for (line, column), pair in edits[path].items()}
        words: dict[str, str] = {}
        for old, new in here.values():
            words[old] = new
        for before, after in bug.changes:
            at = text.find(before)
            if at < 0:
                continue
            now = splice(before, {i - at: p for i, p in here.items() if at <= i < at + len(before)})
            known = {o: n for i, (o, n) in here.items() if at <= i < at + len(before)}
            others = {o: n for o, n in words.items() if o not in before}
            changed = re.sub(r"\b\w+\b", partial(replaced, table=others | known), after)
            if (now, changed) != (before, after):
                self.changes += [(before, now), (after, changed)]

    def write(self) -> None:
        for path in self.paths:
            text = path.read_text()
            for old, new in self.changes:
                for quoted in spellings(old):
                    if quoted in text:
                        text = text.replace(quoted, respelled(quoted, old, new))
                        break
            path.write_text(text)


def replaced(match: re.Match[str], table: dict[str, str]) -> str:
    return table.get(match[0], match[0])


def spellings(text: str) -> Iterator[str]:
    yield repr(text)
    yield '"' + repr(text + "'")[1:-2].replace('\\"', '"').replace('"', '\\"') + '"'
    yield '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def respelled(quoted: str, old: str, new: str) -> str:
    index = [repr(old)].index(quoted) if quoted == repr(old) else -1
    if index == 0:
        return repr(new)
    return '"' + new.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def splice(text: str, edits: dict[int, tuple[str, str]]) -> str:
    for at in sorted(edits, reverse=True):
        old, new = edits[at]
        text = text[:at] + new + text[at + len(old) :]
    return text


def move_modules(modules: dict[str, str]) -> None:
    """Files to their new places, and every text that holds a path or a dotted name of one."""
    aside: list[tuple[Path, Path]] = []
    for old, new in modules.items():
        source, target = path_of(old), path_of(new)
        if not source.is_file():
            print(f"no file: {old}")
            continue
        between = source.with_name(f"{source.stem}__moves.py")
        git_move(source, between)
        aside.append((between, target))
    for between, target in aside:
        target.parent.mkdir(parents=True, exist_ok=True)
        git_move(between, target)
        for folder in [target.parent, *target.parent.parents]:
            package = folder / "__init__.py"
            if folder == ROOT / "sexplang" or ROOT / "sexplang" not in folder.parents:
                break
            if not package.exists():
                package.write_text('"""."""\n')
                print(f"new package: {package.relative_to(ROOT)}")
    for path in ROOT.rglob("*"):
        if not path.is_file() or not SKIPPED.isdisjoint(path.parts):
            continue
        if not any(path.match(each) for each in TEXTS) or path.name == "rename.py":
            continue
        text = path.read_text(errors="surrogateescape")
        changed = in_prose(text, modules) if path.suffix == ".py" else moved(text, modules)
        if changed != text:
            path.write_text(changed, errors="surrogateescape")


def moved(text: str, modules: dict[str, str]) -> str:
    """A text with the new paths and dotted names of modules."""
    return re.sub(
        r"(?<![\w./])(?:[a-z_]\w*/)+\w+\.py\b|(?<![\w/])sexplang(?:[./]\w+)+",
        lambda match: moved_text(match[0], modules),
        text,
    )


def in_prose(text: str, modules: dict[str, str]) -> str:
    """The same of the strings and comments of a program; its imports are changed already."""
    lines = text.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        if token.type not in (tokenize.STRING, tokenize.COMMENT):
            continue
        new = moved(token.string, modules)
        if new != token.string:
            (first, start), (last, end) = token.start, token.end
            lines[first - 1 : last] = [lines[first - 1][:start] + new + lines[last - 1][end:]]
    return "".join(lines)


def moved_text(text: str, modules: dict[str, str]) -> str:
    """A path or a dotted name as it is after the move."""
    way = "/" if "/" in text else "."
    stem = text.removesuffix(".py").replace("/", ".")
    for prefix in ("", "sexplang."):
        parts = (prefix + stem).split(".")
        for end in range(len(parts), 1, -1):
            new = modules.get(".".join(parts[:end]))
            if new is not None:
                rest = ".".join([new, *parts[end:]]).removeprefix(prefix)
                return rest.replace(".", way) + (".py" if text.endswith(".py") else "")
    return text


def git_move(source: Path, target: Path) -> None:
    subprocess.run(["git", "mv", str(source), str(target)], check=True, cwd=ROOT)


def path_of(module: str) -> Path:
    base = ROOT if module.split(".")[0] in PACKAGES else ROOT / "tests"
    return base.joinpath(*module.split(".")).with_suffix(".py")


VISITS: dict[str, Any] = {
    "FuncDef": Tree.visit_func_def,
    "ClassDef": Tree.visit_class_def,
    "NameExpr": Tree.visit_name_expr,
    "MemberExpr": Tree.visit_member_expr,
    "CallExpr": Tree.visit_call_expr,
    "ClassPattern": Tree.visit_class_pattern,
    "AssignmentStmt": Tree.visit_assignment_stmt,
    "Import": Tree.visit_import,
    "ImportFrom": Tree.visit_import_from,
}


if __name__ == "__main__":
    sys.exit(main())
