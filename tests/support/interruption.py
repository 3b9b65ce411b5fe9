"""A command that is ended by signals while its model calls are open."""

import os
import subprocess
import time
from typing import Any

from support.command import SEXPLANG


def interrupt_run(
    words: list[str], server: Any, calls: int, *numbers: int, cwd: Any = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The end of `sexplang run` that gets these signals: the first when a call before the last has
    come to the server, the others when all have."""
    with subprocess.Popen(
        [*SEXPLANG, "run", *words],
        text=True,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"NO_COLOR": "1"} | environment,
    ) as process:
        for at, number in enumerate(numbers, calls - len(numbers) + 1):
            for _ in range(600):
                if len(server.journal) >= at or process.poll() is not None:
                    break
                time.sleep(0.05)
            time.sleep(0.3)
            process.send_signal(number)
        said, errors = process.communicate(timeout=60)
    return subprocess.CompletedProcess(words, process.returncode, said, errors)
