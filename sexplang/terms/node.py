"""How the classes of this project are made: attrs', with one `__repr__` for all of them.

attrs writes and compiles methods for each class when it is imported. The one that shows a class
takes two fifths of that, for something that nobody calls in a run; a shared one takes nothing.
`spec/decisions/nodes-are-frozen-for-the-checker.md` has the figures.

`node` is for what there are hundreds of: spans, forms, core, states of a run. They are frozen for
the type checker, which reads every line of this project; at run time nothing stands guard.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attrs import define, frozen
    from attrs import frozen as node
else:
    import attrs

    def _made_by(make):
        def decorator(cls=None, **settings):
            if cls is None:
                return lambda cls: decorator(cls, **settings)
            if settings.setdefault("repr", False) is False and "__repr__" not in cls.__dict__:
                cls.__repr__ = _shown
            return make(cls, **settings)

        return decorator

    def _shown(self):
        fields = [field.name for field in attrs.fields(type(self)) if field.repr]
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in fields])
        return f"{type(self).__qualname__}({shown})"

    define = _made_by(attrs.define)
    frozen = _made_by(attrs.frozen)
    node = define

__all__ = ["define", "frozen", "node"]
