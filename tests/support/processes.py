"""The files that the kernel has of each process."""

from pathlib import Path


def list_process_files(name):
    """The paths of a file, such as `cmdline`, of all processes. One may be gone when it is read:
    a pattern with the file's name would fail at such a process."""
    return [place / name for place in Path("/proc").glob("[0-9]*")]
