"""A small interpreter of GBNF: texts of a grammar, and whether a text is one.

It knows literals, classes of characters, groups, alternatives, `?`, `*`, `+` and `{m,n}`.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\#[^\n]*)+)|(?P<name>[a-z][a-z0-9-]*)(?P<defines>\s*::=)?
    |(?P<text>"(?:\\.|[^"\\])*")|(?P<chars>\[(?:\\.|[^\]\\])*\])
    |(?P<count>\{(\d+)(,?)(\d*)\}|[?*+])|(?P<sign>[()|])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:x(..)|u(....)|U(........)|(.))", re.DOTALL)
_PLAIN = {"n": "\n", "r": "\r", "t": "\t"}
MOST = 6
"""The most repetitions where a grammar sets no bound; beyond, a text is drawn at random."""


def _characters(text):
    """The characters of a literal or a class, each with whether it was escaped."""
    at = 0
    while at < len(text):
        match = _ESCAPE.match(text, at)
        if match is None:
            yield text[at], False
            at += 1
            continue
        code = match[1] or match[2] or match[3]
        yield (chr(int(code, 16)) if code else _PLAIN.get(match[4], match[4])), True
        at = match.end()


@dataclass(eq=False)
class Text:
    text: str


@dataclass(eq=False)
class Class:
    """A class of characters, as ranges of codes."""

    negated: bool
    ranges: list

    def holds(self, char):
        found = any(first <= ord(char) <= last for first, last in self.ranges)
        return found is not self.negated

    def draw(self, random):
        if not self.negated:
            first, last = random.choice(self.ranges)
            return chr(random.randint(first, last))
        while True:
            most = random.choice([0x7E, 0x7E, 0x7E, 0x24F, 0xFFFF, 0x10FFFF])
            char = chr(random.randint(0x20, most))
            if self.holds(char):
                return char


@dataclass(eq=False)
class Rule:
    name: str


@dataclass(eq=False)
class Sequence:
    parts: list


@dataclass(eq=False)
class Choice:
    parts: list


@dataclass(eq=False)
class Repeat:
    part: object
    least: int
    most: int | None


@dataclass(eq=False)
class Grammar:
    """The rules of a grammar, by name."""

    rules: dict = field(default_factory=dict)

    def draw(self, random, rule="root", depth=12):
        """A text of a rule at random. Below a depth it is as shallow as can be."""
        return self._draw(random, Rule(rule), depth)

    def _draw(self, random, part, depth):
        match part:
            case Text(text):
                return text
            case Class():
                return part.draw(random)
            case Rule(name):
                return self._draw(random, self.rules[name], depth - 1)
            case Sequence(parts):
                return "".join([self._draw(random, each, depth) for each in parts])
            case Choice(parts):
                if depth < 0:
                    parts = sorted(parts, key=self._depth)[:1]
                return self._draw(random, random.choice(parts), depth)
            case Repeat(inner, least, most):
                top = least + MOST if most is None else min(least + MOST, most)
                times = least if depth < 0 else random.randint(least, top)
                return "".join([self._draw(random, inner, depth) for _ in range(times)])

    def _depth(self, part):
        return self._measure(part, self._least)

    @cached_property
    def _least(self):
        """The least depth of each rule."""
        known = {}
        while len(known) < len(self.rules):
            before = len(known)
            for name, part in self.rules.items():
                depth = self._measure(part, known)
                if depth is not None and name not in known:
                    known[name] = depth
            assert len(known) > before, set(self.rules) - set(known)
        return known

    def _measure(self, part, known):
        match part:
            case Rule(name):
                return known[name] + 1 if name in known else None
            case Sequence(parts):
                each = [self._measure(inner, known) for inner in parts]
                return None if None in each else max(each, default=0)
            case Choice(parts):
                each = [self._measure(inner, known) for inner in parts]
                return min((depth for depth in each if depth is not None), default=None)
            case Repeat(inner, least, _):
                return self._measure(inner, known) if least else 0
        return 0

    def longest(self, rule):
        """The length of the longest text of a rule that is not recursive and has a bound."""
        return self._longest(Rule(rule))

    def _longest(self, part):
        match part:
            case Text(text):
                return len(text)
            case Class():
                return 1
            case Rule(name):
                return self._longest(self.rules[name])
            case Sequence(parts):
                return sum(map(self._longest, parts))
            case Choice(parts):
                return max(map(self._longest, parts))
            case Repeat(inner, _, most):
                return most * self._longest(inner)

    def fits(self, text, rule="root"):
        """Whether a whole text is one of a rule."""
        return len(text) in _Match(self, text).ends(Rule(rule), 0)


class _Match:
    """The matches in one text: the ends of each part at each place, known once."""

    def __init__(self, grammar, text):
        self.grammar, self.text, self.known = grammar, text, {}

    def ends(self, part, at):
        match part:
            case Text(text):
                return {at + len(text)} if self.text.startswith(text, at) else set()
            case Class():
                holds = at < len(self.text) and part.holds(self.text[at])
                return {at + 1} if holds else set()
            case Rule(name):
                if (name, at) not in self.known:
                    self.known[name, at] = self.ends(self.grammar.rules[name], at)
                return self.known[name, at]
            case Sequence(parts):
                found = {at}
                for inner in parts:
                    found = {end for start in found for end in self.ends(inner, start)}
                return found
            case Choice(parts):
                return {end for inner in parts for end in self.ends(inner, at)}
            case Repeat(inner, least, most):
                return self._repeat(inner, least, most, at)

    def _repeat(self, inner, least, most, at):
        found, newest, times = set(), {at}, 0
        while newest:
            if times >= least:
                newest -= found
                found |= newest
            if times == most:
                break
            newest = {end for start in newest for end in self.ends(inner, start)}
            times += 1
        return found


def read_grammar(text):
    """The grammar that a text is."""
    tokens = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None, text[at : at + 40]
        at = match.end()
        if match["space"] is None:
            tokens.append(match)
    grammar = Grammar()
    while tokens:
        first = tokens.pop(0)
        assert first["defines"], first
        grammar.rules[first["name"]] = _choice(tokens)
    named = set(re.findall(r"Rule\(name='([^']+)'\)", repr(grammar.rules)))
    assert named <= set(grammar.rules), named - set(grammar.rules)
    return grammar


def _choice(tokens):
    parts = [_sequence(tokens)]
    while tokens and tokens[0]["sign"] == "|":
        tokens.pop(0)
        parts.append(_sequence(tokens))
    return Choice(parts)


def _sequence(tokens):
    parts = []
    while tokens and not tokens[0]["defines"] and tokens[0]["sign"] not in ("|", ")"):
        token = tokens.pop(0)
        if token["count"]:
            parts.append(_repeat(parts.pop(), token))
        elif token["sign"]:
            parts.append(_choice(tokens))
            tokens.pop(0)
        elif token["text"]:
            parts.append(Text("".join([char for char, _ in _characters(token["text"][1:-1])])))
        elif token["chars"]:
            parts.append(_class(token["chars"][1:-1]))
        else:
            parts.append(Rule(token["name"]))
    return Sequence(parts)


def _repeat(part, token):
    if token["count"] in "?*+":
        least, most = {"?": (0, 1), "*": (0, None), "+": (1, None)}[token["count"]]
        return Repeat(part, least, most)
    least, comma, most = re.fullmatch(r"\{(\d+)(,?)(\d*)\}", token["count"]).groups()
    return Repeat(part, int(least), int(most) if most else None if comma else int(least))


def _class(text):
    negated = text.startswith("^")
    chars = list(_characters(text[negated:]))
    ranges = []
    at = 0
    while at < len(chars):
        char = chars[at][0]
        is_range = chars[at + 1 : at + 2] == [("-", False)] and at + 2 < len(chars)
        last = chars[at + 2][0] if is_range else char
        ranges.append((ord(char), ord(last)))
        at += 3 if is_range else 1
    return Class(negated, ranges)
