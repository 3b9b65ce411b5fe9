"""The resolution of model names in calls, templates and programs by the host's settings.

A name is an id (`provider:ID`, an address, `claude-…`, `local`) or a role: any other word.
"""

from collections.abc import Iterator, Mapping

from sexplang.terms.classes.node import field, frozen

ALL = "*"
"""The name that stands for every other."""


@frozen
class Answer:
    """The model for a name. `model` is None if nothing determines it and the host chooses."""

    model: str | None
    is_own: bool
    """Whether a person's setting determines it, and so permits it."""
    is_default: bool = False
    """Whether it is the default for a role without a model."""


@frozen
class Models:
    """The settings of model names. Keys are normalized names."""

    own: Mapping[str, str] = field(factory=dict)
    """The settings of a person: the command line, Python, their own configuration."""
    project: Mapping[str, str] = field(factory=dict)
    """The settings of a project's configuration, which may come with the program."""
    default: str | None = None
    """The model for requests that name none."""
    is_own_default: bool = True
    """Whether the default is a person's setting."""
    credentials: Mapping[str, str] = field(factory=dict, repr=False)
    """Addresses with credentials, as a person gave them, by address without credentials."""

    def answer(self, name: str | None) -> Answer:
        """Return the answer for a name: by the name itself, else by `*`, else the model whose id it
        is. A role without a model gets the default."""
        if not name:
            return self._default()
        wanted = normalize_name(name)
        for key in (wanted, ALL):
            for names, is_own in self._tables():
                if key in names:
                    return self._follow_role(names[key], is_own)
        return Answer(wanted, False) if is_id(wanted) else self._default(is_default=True)

    def models(self) -> Iterator[str]:
        """Yield the models of a person's settings."""
        yield from self.own.values()
        if self.default is not None and self.is_own_default:
            yield self.default

    def with_credentials(self, model: str) -> str:
        """Return the address of a model with the person's credentials for it, or for another model
        at the same address."""
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
        """Return the model for a role in the place of a model. A role without a model, or in a
        circle, stays."""
        seen = set[str]()
        while not is_id(model) and model not in seen:
            seen.add(model)
            for names, is_persons in self._tables():
                if model in names:
                    model, is_own = names[model], is_persons
                    break
        return Answer(normalize_name(model), is_own)


def read_models(model: str | None = None, names: Mapping[str, str] | None = None) -> Models:
    """Return the settings of a person: `model` where none is named, `names` by name. A script or a
    recording answers every name, and `*` answers requests without a name too."""
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
    """Return the name of a model for display, storage and requests: an address without credentials.
    `credentials` maps it to the full address. Addresses that differ only in credentials are
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
    """Return whether a name determines the model by itself."""
    return ":" in name or name == "local" or name.startswith("claude-")


def id_of(name: str) -> str:
    """Return the id of a model at its server: the part behind the provider or the address."""
    head, hash, id = name.partition("#")
    return id if hash else head.partition(":")[2] or head


def is_played(model: str) -> bool:
    """Return whether a model is a script or a recording."""
    return model.startswith(("scripted:", "replay:"))


def normalize_name(name: str) -> str:
    """Return a name in normal form: `claude-…` is Anthropic's."""
    return f"anthropic:{name}" if name.startswith("claude-") else name
