"""Pages of the Python package, from its docstrings and what its source says of types."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any, get_args

from builder.markdown import link_chapters
from builder.pages import Page, code, fence, slug, table
from builder.written_pages import chapter_addresses

PYTHON = "reference/python"
MODULES = {
    "sexplang": "The package: programs are built, run, kept and answered.",
    "sexplang.testing": "For tests: scripts of replies, and strategies for Hypothesis.",
}


def public_names() -> Iterator[tuple[str, str, Any]]:
    """Yield the module, the name and the object of each public name."""
    for module in MODULES:
        home = __import__(module, fromlist=["*"])
        for name in home.__all__:
            yield module, name, getattr(home, name)


def python_path(module: str, name: str) -> str:
    """Return the path of a name's page; a class and a function may differ in capitals only."""
    kind = "" if module == "sexplang" else f"{slug(module)}-"
    capitals = "class-" if name[:1].isupper() else ""
    return f"{PYTHON}/{kind}{capitals}{name.lower()}.md"


def python_pages() -> Iterator[Page]:
    """Yield a page for each public name, and a list of all."""
    rows: dict[str, list[tuple[str, ...]]] = {module: [] for module in MODULES}
    for module, name, value in public_names():
        path = python_path(module, name)
        said = _doc(value).partition("\n\n")[0]
        rows[module].append((f"[{code(name)}](/{path})", said))
        text = link_chapters(_text(module, name, value), chapter_addresses().get)
        trail = (("Python", f"{PYTHON}/index.md"),)
        yield Page(path, text, "python", trail=trail, keywords="python api")
    pieces = ["# Python\n\nWhat the package gives to those who write Python."]
    for module, said in MODULES.items():
        shown = table(("name", "what it is"), sorted(rows[module], key=_by_name))
        pieces.append(f"## {code(module)}\n\n{said}\n\n{shown}")
    yield Page(f"{PYTHON}/index.md", "\n\n".join(pieces), "index")


def _by_name(row: tuple[str, ...]) -> str:
    return row[0].lower()


def _doc(value: Any) -> str:
    if get_args(value):
        return f"One of {', '.join(code(each.__name__) for each in get_args(value))}."
    return inspect.getdoc(value) or ""


def _text(module: str, name: str, value: Any) -> str:
    pieces = [f"# {code(f'{module}.{name}')}\n"]
    if get_args(value):
        links = [
            f"[{code(each.__name__)}](/{python_path(module, each.__name__)})"
            for each in get_args(value)
        ]
        return "\n".join([*pieces, f"A type: one of {', '.join(links)}.\n"])
    if inspect.isclass(value):
        return "\n".join([*pieces, *_class(name, value)])
    return "\n".join([*pieces, fence(_signature(name, value), "python"), f"{_doc(value)}\n"])


def _source(value: Any) -> Any:
    """Return the definition of a class or a function, as its source says it."""
    text = textwrap.dedent(inspect.getsource(value))
    return ast.parse(text).body[0]


def _signature(name: str, value: Any, method: bool = False) -> str:
    """Return a signature with a parameter to a line where it is long."""
    found = _source(inspect.unwrap(value))
    prefix = "async def" if isinstance(found, ast.AsyncFunctionDef) else "def"
    shown = _parameters(found.args, method)
    returns = f" -> {_type(found.returns)}" if found.returns is not None else ""
    line = f"{prefix} {name}({', '.join(shown)}){returns}"
    if len(line) <= 88:
        return line
    rows = "".join(f"    {each},\n" for each in shown)
    return f"{prefix} {name}(\n{rows}){returns}"


def _type(node: ast.expr) -> str:
    """Return an annotation as text; one in quotes without them."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ast.unparse(node)


def _parameters(given: ast.arguments, method: bool) -> list[str]:
    def show(each: ast.arg, default: ast.expr | None = None) -> str:
        text = each.arg if each.annotation is None else f"{each.arg}: {_type(each.annotation)}"
        if default is None:
            return text
        return f"{text}{' = ' if each.annotation else '='}{ast.unparse(default)}"

    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults))
    defaults += given.defaults
    rows = [show(each, default) for each, default in zip(plain, defaults, strict=True)]
    if given.posonlyargs:
        rows.insert(len(given.posonlyargs), "/")
    if method:
        rows = rows[1:]
    if given.vararg:
        rows.append(f"*{show(given.vararg)}")
    elif given.kwonlyargs:
        rows.append("*")
    rows += [
        show(each, default)
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg:
        rows.append(f"**{show(given.kwarg)}")
    return rows


def _class(name: str, value: type) -> Iterator[str]:
    found = _source(value)
    fields = list(_fields(found))
    bases = [ast.unparse(each) for each in found.bases if ast.unparse(each)[0] != "_"]
    head = f"class {name}{'(' + ', '.join(bases) + ')' if bases else ''}"
    initial = value.__dict__.get("__init__")
    if initial is not None and inspect.isfunction(initial) and _has_source(initial):
        init = _signature(name, initial, method=True).removesuffix(" -> None")
        head = f"class {init.removeprefix('def ')}"
    elif fields:
        rows = "".join(f"    {text}\n" for text, _ in fields)
        head = f"{head}:\n{rows}"
    yield fence(head, "python")
    yield f"{_doc(value)}\n"
    said = [(text, doc) for text, doc in fields if doc]
    if said:
        yield "## Fields\n"
        yield table(("field", "meaning"), [(code(text), doc) for text, doc in said])
    shown = list(_members(value))
    if shown:
        yield "## Members\n"
        yield from shown


def _has_source(value: Any) -> bool:
    try:
        _source(value)
    except (OSError, TypeError, SyntaxError, IndentationError):
        return False
    return True


def _fields(found: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield each public field as its source says it, with the docstring below it."""
    for at, each in enumerate(found.body):
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            if each.target.id.startswith("_"):
                continue
            text = f"{each.target.id}: {_type(each.annotation)}"
            if each.value is not None and not isinstance(each.value, ast.Call):
                text += f" = {ast.unparse(each.value)}"
            below = found.body[at + 1] if at + 1 < len(found.body) else None
            doc = ""
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                doc = inspect.cleandoc(str(below.value.value))
            yield text, doc


def _members(value: type) -> Iterator[str]:
    """Yield the public methods and properties of a class and of its bases in the package."""
    seen: set[str] = set()
    for home in value.__mro__:
        if not home.__module__.startswith("sexplang"):
            continue
        for name, member in vars(home).items():
            function = member.fget if isinstance(member, property) else member
            function = getattr(function, "__func__", function)
            if name.startswith("_") or name in seen or not inspect.isfunction(function):
                continue
            if not _has_source(function):
                continue
            seen.add(name)
            signature = _signature(name, function, method=not isinstance(member, staticmethod))
            if isinstance(member, property):
                signature = f"{name}{signature.partition(')')[2].replace(' -> ', ': ')}"
            yield f"### {code(name)}\n"
            yield fence(signature, "python")
            if inspect.getdoc(function):
                yield f"{inspect.getdoc(function)}\n"
