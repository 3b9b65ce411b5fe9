"""The tests of `slug.py`, which a model writes: the first that fails is told.

What the model wrote runs in processes of its own, one for each case, so it cannot end the tests.
"""

import subprocess
import sys

CASES = {
    "Fresh Bread": "fresh-bread",
    "Bread, from 7!": "bread-from-7",
    "  Rolls  &  Buns ": "rolls-buns",
}
ASK = "import sys; from slug import slug; sys.stdout.write(repr(slug(sys.argv[1])))"

for title, expected in CASES.items():
    asked = [sys.executable, "-B", "-c", ASK, title]
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    if done.stdout != repr(expected):
        sys.exit(f"slug({title!r}) gives {done.stdout or 'nothing'}, not {expected!r}")
sys.stdout.write("all is well\n")
