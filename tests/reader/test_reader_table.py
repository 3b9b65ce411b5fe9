"""The shipped table is the grammar's, and reading needs nothing else."""

import subprocess
import sys

from sexplang.package.package_data import read_shipped
from sexplang.reader import _table
from sexplang.reader.table_generator import table_source


def test_the_table_is_what_the_grammar_gives():
    """Whoever changes the grammar writes `table_source()` over `_table.py`."""
    with open(str(_table.__file__), encoding="utf-8") as file:
        assert table_source() == file.read()


def test_every_alternative_of_the_grammar_has_its_method():
    """Nothing is reduced to a value that nobody makes."""
    from sexplang.reader.parser import Forms

    methods = {row.split()[-1] for row in _table.STATES.splitlines() if "->" in row}

    assert {name for name in methods if not hasattr(Forms, name)} == set()
    assert "start: forms" in read_shipped("grammar/sexplang.lark")


def test_reading_does_not_import_lark():
    """lark takes longer to import than a short program may take to start."""
    code = (
        "import sys; from sexplang.reader import read; from sexplang.terms.source import Source;"
        "read(Source('', '(f 1)')); print('lark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.stdout == "False\n", done.stderr
