"""Build the site: `python docs/builder [FOLDER]`; it goes to `build/site` by default.

A link that leads nowhere is an error, and nothing is written; with `--anyway` all the rest is.
"""

import sys
from argparse import ArgumentParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "docs"), str(ROOT)]

from builder.site import build  # noqa: E402

if __name__ == "__main__":
    parser = ArgumentParser(prog="python docs/builder", description="Build the site.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--anyway", action="store_true", help="Write it though links are broken.")
    given = parser.parse_args()
    sys.exit(build(given.folder, given.anyway))
