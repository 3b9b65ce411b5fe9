"""Pages of the commands, from their declarations."""

import re
from collections.abc import Iterator

import click

from builder.markdown import link_chapters
from builder.pages import Page, code, escape, fence, table
from builder.written_pages import chapter_addresses
from sexplang.hosts.cli import commands

COMMANDS = "reference/commands"


def all_commands() -> Iterator[tuple[tuple[str, ...], click.Command, click.Context]]:
    """Yield each command with its words: `("runs", "list")`."""
    root: click.Group = commands._group
    yield from _walk(root, (), click.Context(root, info_name="sexplang"))


def _walk(
    command: click.Command, words: tuple[str, ...], context: click.Context
) -> Iterator[tuple[tuple[str, ...], click.Command, click.Context]]:
    if words:
        yield words, command, context
    if isinstance(command, click.Group):
        for name in sorted(command.list_commands(context)):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                inner = click.Context(found, info_name=name, parent=context)
                yield from _walk(found, (*words, name), inner)


def command_path(words: tuple[str, ...]) -> str:
    """Return the path of a command's page; `index` is the name of the list."""
    name = "-".join(words)
    return f"{COMMANDS}/{'index-command' if name == 'index' else name}.md"


def command_pages() -> Iterator[Page]:
    """Yield a page for each command and subcommand, and a list of all."""
    rows = []
    for words, command, context in all_commands():
        path = command_path(words)
        rows.append((f"[{code(_name(words))}](/{path})", escape(command.get_short_help_str(200))))
        yield Page(path, _text(words, command, context), "command")
    text = (
        "# Commands\n\n`sexplang COMMAND --help` prints the same in the terminal.\n\n"
        f"{table(('command', 'what it does'), rows)}"
    )
    yield Page(f"{COMMANDS}/index.md", text, "index")


def _name(words: tuple[str, ...]) -> str:
    return " ".join(("sexplang", *words))


def _text(words: tuple[str, ...], command: click.Command, context: click.Context) -> str:
    usage = re.sub(r"^Usage: ", "", command.get_usage(context))
    pieces = [f"# {code(_name(words))}\n", fence(usage, "text"), _prose(command.help or "")]
    options = [
        record
        for each in command.get_params(context)
        if (record := each.get_help_record(context)) is not None and record[1]
    ]
    if isinstance(command, click.Group):
        rows = [
            (f"[{code(_name((*words, name)))}](/{command_path((*words, name))})", escape(said))
            for name in sorted(command.list_commands(context))
            if (found := command.get_command(context, name)) and not found.hidden
            for said in [found.get_short_help_str(200)]
        ]
        pieces.append(f"## Commands\n\n{table(('command', 'what it does'), rows)}")
    if options:
        rows = [(code(name), escape(said)) for name, said in options]
        pieces.append(f"## Options\n\n{table(('option', 'meaning'), rows)}")
    if command.epilog:
        pieces.append(_epilog(command.epilog))
    return link_chapters("\n".join(pieces), chapter_addresses().get)


def _prose(text: str) -> str:
    """Return help as Markdown: paragraphs, and lines that are kept as they are below a `\\b`."""
    found = []
    for paragraph in re.split(r"\n\s*\n", re.sub(r"(?m)^ {4,}(?=\S)", "", text).strip()):
        if paragraph.startswith("\b"):
            found.append(fence(paragraph.removeprefix("\b").strip("\n"), "text"))
        elif paragraph.strip():
            found.append(f"{escape(' '.join(paragraph.split()))}\n")
    return "\n".join(found)


def _epilog(text: str) -> str:
    lines = text.replace("\b", "").strip("\n").splitlines()
    if lines and lines[0].strip().rstrip(":") == "Examples":
        rows = [line.removeprefix("  ") for line in lines[1:]]
        shown = "\n".join(f"$ {row}" if row.startswith("sexplang ") else row for row in rows)
        return f"## Examples\n\n{fence(shown, 'console')}"
    return _prose(text)
