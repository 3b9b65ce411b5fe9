"""What the tests of the memory share: folders and repositories with files, and what was found."""

import os
import subprocess
from pathlib import Path

from sexplang.runtime.memory import MemorySystem

FILES = {
    "docs/tea.md": "# Green tea\n\nHow a pot of green tea is brewed.\n\n## Water\n\nHot.\n",
    "docs/coffee.md": "# Coffee\n\nA cup of coffee, with milk.\n",
    "src/kettle.py": '"""Boils water."""\n\n\nclass Kettle:\n    def boilWater(self): ...\n',
    "src/cup.py": "# Holds what was brewed.\n\nSIZE = 3\n\n\ndef pour_into(cup):\n    return cup\n",
    "settings.toml": 'title = "A shop"\n\n[prices]\ntea = 3\n',
}


def filled(folder: Path, files=None) -> Path:
    """A folder with files in it."""
    for name, text in (FILES if files is None else files).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text) if isinstance(text, bytes) else path.write_text(text, "utf-8")
    return folder


def git(folder: Path, *words: str, person="Ada Bell", date="2026-01-02T03:04:05+00:00") -> str:
    """What git says."""
    env = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {
            f"GIT_{role}_NAME": person,
            f"GIT_{role}_EMAIL": "someone@example.org",
            f"GIT_{role}_DATE": date,
        }
    done = subprocess.run(
        ["git", *words], cwd=folder, env=env, check=True, capture_output=True, encoding="utf-8"
    )
    return done.stdout.strip()


def repository(folder: Path, files=None) -> Path:
    """A git repository in which the files are committed."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet")
    filled(folder, files)
    committed(folder)
    return folder


def committed(folder: Path, **how: str) -> str:
    """Everything there is in one more commit."""
    git(folder, "add", "--all", **how)
    git(folder, "commit", "--quiet", "-m", "a change", **how)
    return git(folder, "rev-parse", "HEAD")


def indexed(folder: Path, **options) -> MemorySystem:
    """The folder's index, made in the folder itself."""
    memory = MemorySystem(folder / ".sexplang" / "index.db")
    memory.add(folder, **options)
    return memory


def names(memory: MemorySystem, folder: Path) -> list[str]:
    """The files in an index, relative to a folder."""
    return [os.path.relpath(path, folder) for path in memory.entries()]


def rows(memory: MemorySystem, folder: Path) -> dict[str, dict]:
    """The metadata of files by their paths relative to a folder."""
    return {os.path.relpath(file["path"], folder): file for file in memory.status()["files"]}


def found(memory: MemorySystem, query, folder: Path) -> list[str]:
    """The files that a query finds, best first, relative to a folder."""
    reply = memory.search(query)
    assert reply["error"] is None, reply["error"]
    return [os.path.relpath(match["id"], folder) for match in reply["matches"]]
