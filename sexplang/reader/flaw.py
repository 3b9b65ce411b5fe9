"""The flaw of one token."""


class Flaw(Exception):
    """An invalid token: the flaw is from `start` to `end` within it (None: its end), in the words
    of a diagnostic."""

    def __init__(
        self,
        code: str,
        title: str,
        words: str,
        hint: str | None = None,
        start: int = 0,
        end: int | None = None,
    ) -> None:
        super().__init__(title)
        self.code, self.title, self.words, self.hint = code, title, words, hint
        self.start, self.end = start, end
