"""The summary of a text file and the identifiers that it defines.

The summary is the first docstring, heading with its paragraph, description or comment except
licences; else the first lines. Identifiers are ordered outermost first.
"""

import re
from collections.abc import Callable, Iterator

from sexplang.runtime.memory.scan.file_kinds import extension_of
from sexplang.terms.classes.node import frozen

MOST_IDENTIFIERS = 20
LONGEST = 300
"""Maximum characters of a summary."""
LONGEST_NAME = 80
OPENING = 4_000
"""Characters searched for a summary."""
BODY = 200_000
"""Characters searched for identifiers."""

Find = Callable[[str], str]


@frozen
class Facts:
    """The summary and identifiers of a text."""

    summary: str
    identifiers: tuple[str, ...]


@frozen
class Family:
    """A kind of file: functions that look for a summary, in order of preference."""

    said: tuple[Find, ...]
    defined: tuple[str, ...] = ()
    """Patterns of definitions: group 1 is the indentation, group 2 the name."""


def facts_of(text: str, name: str) -> Facts:
    """Return the summary and the identifiers of a text in a file of this name."""
    family = _family(text, name)
    body = text[:BODY].replace("\r\n", "\n")
    finds = (*family.said, _first_lines)
    said = next((found for find in finds if (found := find(body[:OPENING]))), "")
    return Facts(_truncate(said, LONGEST), _identifiers(body, family.defined))


def _family(text: str, name: str) -> Family:
    """Return the kind of a file by extension, whole name (`Makefile`), or the interpreter of a
    script."""
    kind = extension_of(name) or name.lower()
    if kind not in _FAMILY_OF:
        shebang = re.match(r"#![^\n]*?\b(bash|sh|zsh|dash|python|ruby|node)", text)
        kind = _INTERPRETERS.get(shebang[1], "") if shebang else kind
    return _FAMILY_OF.get(kind, _PLAIN)


def _truncate(said: str, longest: int) -> str:
    line = " ".join(said.replace("\0", " ").split())
    if len(line) <= longest:
        return line
    return line[: longest - 1].rpartition(" ")[0][: longest - 1].rstrip(",;:.") + "…"


def _identifiers(text: str, defined: tuple[str, ...]) -> tuple[str, ...]:
    # Patterns are not compiled here: most runs need few of them, and `re` caches those.
    found = [name for pattern in defined for name in re.findall(pattern, text)]
    ranked = sorted(found, key=lambda each: each[0] != "")  # stable: the outermost come first
    names = dict.fromkeys(_truncate(name, LONGEST_NAME) for _, name in ranked)
    return tuple([name for name in names if name][:MOST_IDENTIFIERS])


# -- Summaries -------------------------------------------------------------------------------------

_LICENCE = re.compile(r"copyright|licen[cs]e|spdx|all rights reserved|@generated", re.I)
_EDITORS = re.compile(r"^.*-\*-.*$|^.*\bvim?:.*$", re.M)


def _first_lines(text: str) -> str:
    lines = _EDITORS.sub("", text.removeprefix("#!")).split("\n")
    return " ".join([line for line in lines if line.strip() and not _LICENCE.search(line)][:5])


def _find_group(pattern: str) -> Find:
    """Return a function that finds the first matching group of a pattern."""

    def find(text: str) -> str:
        found = re.search(pattern, text)
        return found[found.lastindex or 0] if found else ""

    return find


def _comment(pattern: str, marks: str) -> Find:
    """Return a function that finds the first comment with a word that is not a licence; `marks` are
    removed."""

    def find(text: str) -> str:
        for found in re.finditer(f"(?ms){pattern}", text):
            said = _EDITORS.sub("", re.sub(f"(?m){marks}", "", found[0])).strip()
            if re.search(r"[^\W\d_]{2}", said) and not _LICENCE.search(said):
                return said.partition("\n\n")[0]
        return ""

    return find


def _lines(mark: str) -> Find:
    """Return a function that finds a comment of lines with this prefix."""
    return _comment(rf"(?:^[ \t]*{mark}(?!!)[^\n]*\n?)+", rf"^[ \t]*(?:{mark})+[ \t]?")


_docstring = _find_group(
    r"(?s)\A(?:[ \t]*(?:#[^\n]*)?\n)*[rRuU]?"
    r"(?:\"{3}(.*?)(?:\n[ \t]*\n|\"{3})|'{3}(.*?)(?:\n[ \t]*\n|'{3})|\"([^\"\n]+)\")"
)
_slashes = _comment(
    r"/\*.*?\*/|(?:^[ \t]*//[^\n]*\n?)+", r"^[ \t]*(?:/\*+!?|\*+(?!/)|//+!?)[ \t]?|\*+/"
)
_hashes, _dashes, _percents = _lines("#"), _lines("--"), _lines("%")
_semicolons = _lines(";")


_AROUND = re.compile(r"\A---\n.*?\n---\n|<!--.*?-->|^\[?!\[[^\n]*", re.S | re.M)
_HEADING = re.compile(r"\A(?:[#=*]+[ \t]+([^\n]+?)[ \t]*#*|([^\n]+)\n[=\-~^]{3,}[ \t]*)(?:\n+|\Z)")


def _heading(text: str) -> str:
    """Return the first heading and its paragraph, or the first paragraph."""
    body = _AROUND.sub("", text).strip()
    found = _HEADING.match(body)
    title = (found[1] or found[2]) if found else ""
    paragraph = re.split(r"\n[ \t]*\n", body[found.end() if found else 0 :], maxsplit=1)[0]
    is_text = re.match(r"[^\W_]|[\"'(*_`\[]", paragraph) is not None or not title
    return ": ".join(part for part in (title, paragraph if is_text else "") if part)


_description = _find_group(
    r'(?m)"(?:description|title)"\s*:\s*"([^"\n]+)"'
    r'|^(?:description|title)\s*[:=]\s*["\']?([^"\'\n]+)'
)
_element = _find_group(r"(?i)<(?:description|title|summary)\b[^>]*>\s*([^<]+)")
_xml_comment = _comment(r"<!--.*?-->", r"<!--+|--+>")

# -- Identifiers -----------------------------------------------------------------------------------

_WORDS = (
    "export default public private protected internal static final abstract async pub unsafe "
    "extern inline open sealed data override declare"
)
_KINDS = (
    "def class function func fn struct enum trait interface module namespace protocol object impl "
    "sub record defmodule defp type"
)
_BEFORE = rf"(?:(?:{_WORDS.replace(' ', '|')})(?:\([a-z]+\))?[ \t]+)*"


_KEYWORDS = (
    rf"(?m)^([ \t]*){_BEFORE}(?:{_KINDS.replace(' ', '|')})\*?[ \t]+"
    r"(?:\([^)\n]*\)[ \t]*)?([^\W\d][\w$]*)"
)
_BINDINGS = r"(?m)^()(?:export[ \t]+)?(?:const|let|var|val|static)[ \t]+([^\W\d][\w$]*)"
_SIGNATURES = (
    r"(?m)^([ \t]*)(?!return\b|else\b|new\b|throw\b)[A-Za-z_][\w<>:,*&\[\]]{0,60}[ \t]+"
    r"(?:[\w<>:,*&\[\]]{1,60}[ \t]+){0,4}[*&]?(?!if\b|for\b|while\b|switch\b)([A-Za-z_]\w{0,80})\("
)
_DEFINITIONS = r"(?m)^([ \t]*)\((?:def[\w-]*|ns|test)\*?\s+\(?\"?([^\s()\"\[\]{};]+)"
_HEADINGS = r"(?m)^()(?:#{1,6}|=+|\*+)[ \t]+(\S[^\n]{0,200}?)[ \t]*#*$"
_UNDERLINED = r"(?m)^()(\w[^\n]{2,200})\n(?:={3,}|-{3,}|~{3,})[ \t]*$"
_SECTIONS = r"(?m)()\\(?:chapter|(?:sub)*section)\*?\{([^}\n]{1,200})\}"
_NAMED = r"(?m)()\b(?:name|id)=\"([^\"\n]{1,80})\""
_QUOTED_KEYS = r"(?m)^([ \t]*)\"([^\"\n]{1,80})\"[ \t]*:"
_KEYS = r"(?m)^()([\w.-]{1,80})[ \t]*[:=](?!=)"
_TABLES = r"(?m)^()\[+([^\]\n]{1,80})\]"
_SHELL = r"(?m)^([ \t]*)(?:function[ \t]+)?([\w-]{1,80})[ \t]*\(\)"
_TARGETS = r"(?m)^()([\w./-]{1,80})[ \t]*:(?!=)"
_CREATED = (
    r"(?mi)^([ \t]*)create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:\w+[ \t]+)?"
    r"(?:table|view|function|procedure|index|type)[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+)?"
    r"([\w.\"]+)"
)

# -- Kinds of files --------------------------------------------------------------------------------

_PLAIN = Family((_heading,), (_HEADINGS, _UNDERLINED))

_TABLE: tuple[tuple[str, Family], ...] = (
    ("py pyi pyx", Family((_docstring, _hashes), (_KEYWORDS,))),
    ("rb ex exs jl nim cr", Family((_hashes,), (_KEYWORDS,))),
    ("sh bash zsh fish", Family((_hashes,), (_SHELL,))),
    (
        "js jsx ts tsx mjs cjs rs go kt kts swift scala php zig dart proto css scss less vue",
        Family((_slashes,), (_KEYWORDS, _BINDINGS)),
    ),
    ("c h cc cpp cxx hpp hh java cs m mm", Family((_slashes,), (_KEYWORDS, _SIGNATURES))),
    ("sexp scm ss rkt lisp lsp el clj cljs edn", Family((_semicolons,), (_DEFINITIONS,))),
    ("lua hs elm", Family((_dashes,), (_KEYWORDS,))),
    ("sql", Family((_dashes, _slashes), (_CREATED,))),
    ("tex bib erl", Family((_percents,), (_SECTIONS,))),
    ("xml xsd xsl svg html htm", Family((_element, _xml_comment), (_NAMED,))),
    ("json jsonc", Family((_description,), (_QUOTED_KEYS,))),
    ("toml ini cfg conf properties", Family((_description, _hashes), (_TABLES, _KEYS))),
    ("yaml yml", Family((_description, _hashes), (_KEYS,))),
    ("mk cmake makefile", Family((_hashes,), (_TARGETS,))),
    ("dockerfile containerfile gitignore", Family((_hashes,))),
)


def _families() -> Iterator[tuple[str, Family]]:
    for names, family in _TABLE:
        for name in names.split():
            yield name, family


_FAMILY_OF = dict(_families())
_INTERPRETERS = {
    "python": "py",
    "ruby": "rb",
    "node": "js",
    **dict.fromkeys(("bash", "sh", "zsh", "dash"), "sh"),
}
