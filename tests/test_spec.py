"""Every block of the specification, the README and the error pages does what it says."""

import pytest
from support.chunks import check, chunks
from support.sources import no_files

from sexplang.package.package_data import names
from sexplang.pipeline.pipeline import build
from sexplang.terms.source import Source


@pytest.mark.parametrize("chunk", list(chunks("spec", "README.md", "stdlib")), ids=str)
def test_block(chunk, request):
    """The marks of a block are true."""
    check(chunk, update=request.config.getoption("--update"))


@pytest.mark.parametrize("module", [name for name in names("stdlib") if name.endswith(".sexp")])
def test_a_standard_module_stands_alone(module):
    """Each module of stdlib/ can be imported by name and brings no warning."""
    name = module.removesuffix(".sexp")
    program = build(Source("a program", f"(import std/{name})"), no_files)

    assert () == program.warnings
