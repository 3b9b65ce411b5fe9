"""Build the site: `python docs/builder [FOLDER]`; it goes to `build/site` by default.

SOURCE_DATE_EPOCH, as a number of seconds, is the date of the pages.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(ROOT / "docs"), str(ROOT)]

from builder.site import build  # noqa: E402

if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"))
