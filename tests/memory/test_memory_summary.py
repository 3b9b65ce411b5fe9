"""What a text says of itself, and what it defines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexplang.runtime.memory.scan.summary import LONGEST, MOST_IDENTIFIERS, facts_of

LICENCE = "Copyright 2020 Somebody. All rights reserved."


@pytest.mark.parametrize(
    ("name", "text", "summary"),
    [
        ("a.py", '#!/usr/bin/python\n\nr"""One line.\n\nMore."""\n', "One line."),
        ("a.py", "'''In\n  two lines.'''\n", "In two lines."),
        ("a.py", f"# -*- coding: utf-8 -*-\n# {LICENCE}\n\n# Counts.\nx = 1\n", "Counts."),
        ("a.py", f"# {LICENCE}\nimport os\nx = 1\n", "import os x = 1"),
        ("a.py", "def broken(:\n", "def broken(:"),
        ("a.py", "", ""),
        ("a.md", "# Tea\n\nHow it is\nmade.\n\nMore.", "Tea: How it is made."),
        ("a.md", "# Tea #\nAt once.\n", "Tea: At once."),
        ("a.md", "---\ndate: 1\n---\n<!-- a\nb -->\n[![x](y)](z)\n\n# Tea\n\n## Water\n", "Tea"),
        ("a.md", "No heading.\n\nMore.", "No heading."),
        ("a.rst", "Tea\n===\n\nHow.\n", "Tea: How."),
        ("notes", "\n\n  A note,\n of two lines.\n\nMore.", "A note, of two lines."),
        ("a.js", f"// {LICENCE}\n\n/**\n * Brews.\n * Slowly.\n *\n * @x\n */\n", "Brews. Slowly."),
        ("a.go", "// Package tea brews.\npackage tea\n", "Package tea brews."),
        ("a.rs", "//! A crate.\nuse x;\n", "A crate."),
        ("a.c", "/* Adds. */\nint add(int a);\n", "Adds."),
        ("a.sexp", "; Brews tea.\n\n(define x 1)\n", "Brews tea."),
        ("a.sql", "-- Orders.\ncreate table orders (id int);\n", "Orders."),
        ("a.xml", '<task name="x"><description> Brew. </description></task>', "Brew."),
        ("a.html", "<html><head><title>Tea</title>", "Tea"),
        ("a.svg", "<!-- A cup. --><svg/>", "A cup."),
        ("a.json", '{"name": "x", "description": "A shop."}', "A shop."),
        ("a.toml", '# Prices.\n[project]\ndescription = "A shop"\n', "A shop"),
        ("a.yaml", "# Prices.\ntea: 3\n", "Prices."),
        ("Makefile", "# Builds.\nall: x\n", "Builds."),
        ("run", "#!/bin/sh\n# Runs.\nset -e\n", "Runs."),
        ("tool", '#!/usr/bin/env python3\n"""A tool."""\n', "A tool."),
        ("a.txt", "word " * 200, " ".join(["word"] * 59) + "…"),
    ],
)
def test_a_summary(name, text, summary):
    """The first docstring, heading, description or comment that is no licence, else first lines."""
    assert summary == facts_of(text, name).summary


@pytest.mark.parametrize(
    ("name", "text", "identifiers"),
    [
        ("a.py", "class A:\n    async def b(self): ...\n\n\ndef c(): ...\n", "A c b"),
        ("a.py", "def a(): ...\ndef a(): ...\n", "a"),
        (
            "a.ts",
            "export default async function a() {\n  const x = 1\n}\nexport const B = 2\n",
            "a B",
        ),
        ("a.ts", "export interface A {}\ntype B = A\nabstract class C {}\n", "A B C"),
        ("a.go", "type Pot struct {}\nfunc (p *Pot) Brew(n int) error {\n", "Pot Brew"),
        ("a.rs", "pub(crate) fn a() {}\nimpl B {\n    pub fn c() {}\n}\n", "a B c"),
        ("a.c", "static int add(int a)\n{\n  return sub(a);\n}\n", "add"),
        ("a.java", "public final class Pot {\n  private int warm(int a) {\n", "Pot warm"),
        ("a.sexp", '(define (a x) x)\n(define b 1)\n(defatom c)\n(test "d" 1)\n', "a b c d"),
        ("a.clj", "(ns tea)\n(defn- brew [x] x)\n", "tea brew"),
        ("a.sql", "CREATE TABLE IF NOT EXISTS orders (id int);\n", "orders"),
        ("a.sh", "brew() {\n}\nfunction pour() {\n", "brew pour"),
        ("a.json", '{\n  "tea": {\n    "price": 1\n  }\n}', "tea price"),
        ("a.toml", "[prices]\ntea = 1\n", "prices tea"),
        ("a.yml", "tea:\n  price: 1\ncoffee: 2\n", "tea coffee"),
        ("a.xml", '<task name="brew"><param name="cups"/></task>', "brew cups"),
        ("a.tex", "\\section{Tea}\n\\subsection*{Water}", "Tea Water"),
        ("a.mk", "all: x\nVAR := 1\n", "all"),
        ("a.txt", "Tea\n===\n\nWater\n-----\n", "Tea Water"),
    ],
)
def test_identifiers(name, text, identifiers):
    """What is defined: the outermost first, each once."""
    assert tuple(identifiers.split()) == facts_of(text, name).identifiers


def test_a_heading_is_one_identifier():
    """Though it has several words."""
    assert ("Green tea", "Hot water") == facts_of(
        "# Green tea\n\n## Hot water ##\n", "a.md"
    ).identifiers


def test_there_are_at_most_twenty():
    """The first of them."""
    text = "".join(f"def f{n}(): ...\n" for n in range(50))

    assert tuple(f"f{n}" for n in range(MOST_IDENTIFIERS)) == facts_of(text, "a.py").identifiers


NAMES = ["a.py", "a.md", "a.js", "a.c", "a.sexp", "a.xml", "a.json", "a.toml", "a.sql", "a.sh", "a"]
PIECES = [
    "\n",
    "# ",
    "/*",
    "*/",
    "//",
    '"""',
    "<!--",
    "(define ",
    "def f(",
    "a: b",
    " ",
    "===",
    "\0",
]


@given(st.sampled_from(NAMES), st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join))
def test_any_text_has_short_facts(name, text):
    """On one line, and nothing of it is more than its share."""
    facts = facts_of(text, name)

    assert len(facts.summary) <= LONGEST
    assert "\n" not in facts.summary
    assert all(0 < len(each) <= 80 and "\n" not in each for each in facts.identifiers)
    assert len(facts.identifiers) <= MOST_IDENTIFIERS
