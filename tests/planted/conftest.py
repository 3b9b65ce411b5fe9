"""Lets the planted bugs import `support` and their own table."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
