"""What the tests of this folder share."""

import pytest
from support.serving import run_served


@pytest.fixture
def run(request, tmp_path):
    """Runs a program beside the module's TEMPLATES against a server: its value, and what the server
    was sent."""
    (tmp_path / "tasks.xml").write_text(request.module.TEMPLATES)

    def run(program, *script):
        file = tmp_path / "program.sexp"
        file.write_text(f'(import "tasks.xml")\n{program}')
        return run_served(file, *script)

    return run
