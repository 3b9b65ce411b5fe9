"""Programs' texts with other white space, and with comments strewn in."""

import re

from sexplang.reader.parser import TOKEN, comment_end

_SPACE = re.compile(r"[ \t\r\n,]*")
_LINE_COMMENT = re.compile(r";[^\r\n]*")
_MARKS = ("'", "`", "~", "~@", "#;")


def pieces(text):
    """Tokens and comments, each as (where the white space before it begins, where it begins, it);
    last the end, as an empty one."""
    at = 0
    while True:
        start = _SPACE.match(text, at).end()
        if start == len(text):
            yield at, start, ""
            return
        comment = _LINE_COMMENT.match(text, start)
        if comment:
            end = comment.end()
        elif text.startswith("#|", start):
            end = comment_end(text, start + 2)
        else:
            end = TOKEN.match(text, start).end()
        yield at, start, text[start:end]
        at = end


def strewn(text, gaps):
    """A text with a gap of `gaps` (an endless iterator) between all its tokens."""
    return "".join(next(gaps) + piece for _, _, piece in pieces(text))


def respaced(text, random):
    """A text with other white space. Comments keep their places (a line of their own, the end of
    a line, in a line), and blank lines between forms at the top stay."""
    out, depth, before = "", 0, "\n"
    columns = None  # of the comment at the end of a line, before and now, while it may go on
    for at, start, piece in pieces(text):
        breaks = text.count("\n", at, start)
        if piece in (")", "]", "}"):
            depth -= 1
        is_comment, after_comment = _is_comment(piece), _is_comment(before)
        if depth == 0 and before not in _MARKS:
            breaks = min(breaks, 2)
        elif is_comment or after_comment:
            breaks = min(breaks, 1)
        else:
            breaks = random.choice([0, 0, 0, 1, 2])
        own = piece.startswith(";") and (breaks > 0 or not out)
        if own and columns and breaks == 1 and _column(text, start) == columns[0]:
            out += "\n" + " " * columns[1]
        elif own and columns:
            out += "\n" * breaks
            columns = None
        else:
            tight = not (is_comment or after_comment) and _is_tight(before, piece)
            out += _space(random, breaks, tight)
            columns = None
            if piece.startswith(";") and not own:
                columns = (_column(text, start), _column(out, len(out)))
        out += piece
        if piece in ("(", "[", "{"):
            depth += 1
        before = piece or before
    return out


def _is_comment(piece):
    return piece.startswith((";", "#|"))


def _is_tight(before, piece):
    """Whether two tokens may stand together."""
    return before in ("(", "[", "{", "\n") or piece in (")", "]", "}", "") or before in _MARKS[:2]


def _column(text, at):
    return at - text.rfind("\n", 0, at) - 1


def _space(random, breaks, tight):
    space = random.choice(["", " ", "  ", "\t"])
    if not breaks:
        return space or ("" if tight else " ")
    return space + "".join(
        random.choice(["\n", "\r\n", "\n"]) + random.choice(["", " ", "      "])
        for _ in range(breaks)
    )
