"""The arguments of `sexplang index`, by click."""

import click

_EXAMPLES = """\b
Examples:
  sexplang index .                      the project around this folder
  sexplang index src docs --include '*.py' --include '*.md'
  sexplang index --list                 what is known"""


@click.command("index", epilog=_EXAMPLES, short_help="Index files, for programs that search.")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--index",
    "place",
    metavar="FILE",
    help="Where the index is (.sexplang/index.db in the project's top folder).",
)
@click.option("--include", multiple=True, metavar="PATTERN", help="Only files that fit PATTERN.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="No files that fit PATTERN.")
@click.option("--list", "listing", is_flag=True, help="List what is known, change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Write the outcome as a JSON document.")
@click.option("-q", "--quiet", is_flag=True, help="Nothing on stderr but errors.")
def INDEX(
    paths: tuple[str, ...],
    place: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    listing: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Index folders, git repositories and files, so that programs find them by `search-memory`.

    Kept are names, sizes, a summary of each text, what it defines and its last commit; never its
    contents. What has not changed is not read again. Patterns are those of a .gitignore.
    """
    from sexplang.hosts.cli.index import Settings, index

    if not paths and not listing:
        raise click.UsageError("Name a folder: sexplang index PATH")
    return index(Settings(paths, place, include, exclude, listing, as_json, quiet))
