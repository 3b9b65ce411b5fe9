"""The resolution of model names in calls, templates and programs by the host's settings.

A name is an id (`provider:ID`, an address, `claude-…`, `local`) or a role: any other word.
"""

from collections.abc import Iterator, Mapping, Sequence

from sexplang.terms.classes.node import evolve, field, frozen

ALL = "*"
"""The name that stands for every other."""

FALLBACK = " | "
"""The text between a model and the one that is asked when it fails."""


@frozen
class Answer:
    """The model for a name. `model` is None if nothing determines it and the host chooses."""

    model: str | None
    is_own: bool
    """Whether a person's setting determines it, and so permits it."""
    is_default: bool = False
    """Whether it is the default for a role without a model."""
    fallbacks: "tuple[Answer, ...]" = ()
    """The models that are asked when it fails, in order."""

    def all_models(self) -> tuple[str, ...]:
        """Return the model and its fallbacks."""
        named = (self.model, *[each.model for each in self.fallbacks])
        return tuple([model for model in named if model is not None])


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
        for model in self.own.values():
            yield from model.split(FALLBACK)
        if self.default is not None and self.is_own_default:
            yield from self.default.split(FALLBACK)

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
        return evolve(answer, is_default=is_default)

    def _follow_role(self, model: str, is_own: bool, seen: frozenset[str] = frozenset()) -> Answer:
        """Return the answer for a model, a role in its place, or several of them. A role without a
        model, or in a circle, stays."""
        found: list[Answer] = []
        for each in model.split(FALLBACK):
            answer = Answer(normalize_name(each), is_own)
            for names, is_persons in self._tables() if not is_id(each) and each not in seen else ():
                if each in names:
                    answer = self._follow_role(names[each], is_persons, seen | {each})
                    break
            found += [evolve(answer, fallbacks=()), *answer.fallbacks]
        return evolve(found[0], fallbacks=tuple(found[1:]))


def read_models(
    model: str | Sequence[str] | None = None,
    names: Mapping[str, str | Sequence[str]] | None = None,
) -> Models:
    """Return the settings of a person: `model` where none is named, `names` by name, each with the
    models that are asked when it fails. A script or a recording answers every name, and `*` answers
    requests without a name too."""
    credentials: dict[str, str] = {}
    model = None if model is None else without_credentials(join_models(model), credentials)
    own = {
        normalize_name(name): without_credentials(join_models(each), credentials)
        for name, each in (names or {}).items()
    }
    if model is not None and is_played(model):
        own.setdefault(ALL, model)
    default = own.get(ALL) if model is None else model
    return Models(own, default=default, credentials=credentials)


def join_models(models: str | Sequence[str]) -> str:
    """Return a model, or several that are asked in turn, as one text."""
    return models if isinstance(models, str) else FALLBACK.join(models)


def without_credentials(model: str, credentials: dict[str, str]) -> str:
    """Return the name of a model for display, storage and requests: an address without credentials.
    `credentials` maps it to the full address. Addresses that differ only in credentials are
    numbered before their host."""
    if "://" not in model:
        return model
    if FALLBACK in model:
        each = [without_credentials(one, credentials) for one in model.split(FALLBACK)]
        return FALLBACK.join(each)
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
