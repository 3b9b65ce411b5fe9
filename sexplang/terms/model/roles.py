"""What a call, a template or a program names as its model → who answers, as a host says it.

A name is an id (`provider:ID`, an address, `claude-…`, `local`) or a role: any other word.
"""

from collections.abc import Iterator, Mapping

from sexplang.terms.classes.node import field, frozen

ALL = "*"
"""The name that stands for every other."""


@frozen
class Answer:
    """Who answers to a name. `model` is None where nobody says and the host chooses."""

    model: str | None
    is_own: bool
    """Whether a person's word says so, and so permits it."""
    is_default: bool = False
    """Whether it answers to a role that nobody has given a model."""


@frozen
class Models:
    """Who answers to which name. Keys are `spelled`."""

    own: Mapping[str, str] = field(factory=dict)
    """A person's word: the command line, Python, their own configuration."""
    project: Mapping[str, str] = field(factory=dict)
    """The configuration's of a project, which may come with the program."""
    default: str | None = None
    """Who answers where no model is named."""
    is_own_default: bool = True
    """Whether that is a person's word."""
    credentials: Mapping[str, str] = field(factory=dict, repr=False)
    """Addresses as a person gave them, with credentials, by the addresses that are shown and named
    above."""

    def answer(self, name: str | None) -> Answer:
        """Who answers to a name: as the name itself says, else as `*` does, else the model whose
        id it is. To a role that nobody gives a model, the default answers."""
        if not name:
            return self._default()
        wanted = normalize_name(name)
        for key in (wanted, ALL):
            for names, is_own in self._tables():
                if key in names:
                    return self._follow_role(names[key], is_own)
        return Answer(wanted, False) if is_id(wanted) else self._default(is_default=True)

    def models(self) -> Iterator[str]:
        """The models that a person's word names."""
        yield from self.own.values()
        if self.default is not None and self.is_own_default:
            yield self.default

    def with_credentials(self, model: str) -> str:
        """The address of a model with the credentials that a person gave for it, or for another
        model at the same address."""
        if model in self.credentials:
            return self.credentials[model]
        server, hash, name = model.partition("#")
        for shown, address in self.credentials.items():
            if shown.partition("#")[0] == server:
                return address.partition("#")[0] + hash + name
        return model

    def _tables(self) -> tuple[tuple[Mapping[str, str], bool], ...]:
        return (self.own, True), (self.project, False)

    def _default(self, is_default: bool = False) -> Answer:
        if self.default is None:
            return Answer(None, True, is_default)
        answer = self._follow_role(self.default, self.is_own_default)
        return Answer(answer.model, answer.is_own, is_default)

    def _follow_role(self, model: str, is_own: bool) -> Answer:
        """The model that a role in the place of a model stands for; a role that has none, or leads
        back to itself, stays."""
        seen = set[str]()
        while not is_id(model) and model not in seen:
            seen.add(model)
            for names, is_persons in self._tables():
                if model in names:
                    model, is_own = names[model], is_persons
                    break
        return Answer(normalize_name(model), is_own)


def read_models(model: str | None = None, names: Mapping[str, str] | None = None) -> Models:
    """What a person says: `model` where none is named, `names` by name. A script or a recording
    answers to every name, and `*` where nobody is named, too."""
    credentials: dict[str, str] = {}
    model = None if model is None else without_credentials(model, credentials)
    own = {
        normalize_name(name): without_credentials(each, credentials)
        for name, each in (names or {}).items()
    }
    if model is not None and is_played(model):
        own.setdefault(ALL, model)
    default = own.get(ALL) if model is None else model
    return Models(own, default=default, credentials=credentials)


def without_credentials(model: str, credentials: dict[str, str]) -> str:
    """What a model is called wherever its name is read, kept or sent on: an address without its
    credentials, for which `credentials` has it whole. Addresses that differ in these alone are
    numbered before their host."""
    if "://" not in model:
        return model
    from sexplang.terms.texts.address import split_credentials

    name, user, found = split_credentials(model)
    if not user and not found:
        return model
    head, scheme, rest = name.partition("://")
    number = 1
    while credentials.get(name, model) != model:
        number += 1
        name = f"{head}{scheme}{number}@{rest}"
    credentials[name] = model
    return name


def is_id(name: str) -> bool:
    """Whether a name says by itself which model it is."""
    return ":" in name or name == "local" or name.startswith("claude-")


def is_played(model: str) -> bool:
    """Whether a model is a script or a recording, and no model at all."""
    return model.startswith(("scripted:", "replay:"))


def normalize_name(name: str) -> str:
    """A name as it is compared: `claude-…` is Anthropic's."""
    return f"anthropic:{name}" if name.startswith("claude-") else name
