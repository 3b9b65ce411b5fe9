"""Classes are made as attrs makes them: some by both, and every class of the package."""

import copy
import importlib
import inspect
import pickle
import pkgutil
import weakref
from functools import cached_property

import attrs
import pytest

import sexplang
from sexplang.terms.classes import maker


def point_of(make):
    @make.frozen
    class Point:
        """Doc."""

        x: int
        y: int = 0
        tags: list = make.field(factory=list, eq=False, repr=False)

    return Point


def counter_of(make):
    @make.define
    class Counter:
        _count: int = 0
        names: dict = make.field(factory=dict)
        seen: list = make.field(init=False, factory=list)
        size: int = make.field(init=False)
        whole: tuple = make.field(default=(1,), converter=tuple)
        after: str = make.field(default="", init=False, repr=False)

        @size.default
        def _size(self):
            return self._count + len(self.names)

        def __attrs_post_init__(self):
            self.after = f"after {self.size}"

        @property
        def grown(self):
            return evolve(self, count=self._count + 1)

    return Counter


def nodes_of(make):
    @make.define(eq=False)
    class Node:
        span: int = make.field(kw_only=True, repr=False)

        def name(self):
            return "node"

    @make.define(eq=False)
    class Leaf(Node):
        value: object

        def name(self):
            return f"leaf, a {super().name()}"

    @make.define(eq=False)
    class Placed(Leaf):
        depth: int
        span: int = make.field(repr=False)

        @cached_property
        def twice(self):
            return [self.depth, self.depth]

    return Node, Leaf, Placed


def options_of(make):
    @make.frozen(kw_only=True)
    class Options:
        width: int
        _height: int = 1

    return Options


def hashed_of(make):
    @make.define(unsafe_hash=True)
    class Span:
        source: str
        start: int

    @make.define(unsafe_hash=True)
    class Made(Span):
        macro: str = ""

    @make.define
    class Own:
        key: int

        def __init__(self, key):
            self.key = key * 2

        def __eq__(self, other):
            return isinstance(other, Own) and other.key % 10 == self.key % 10

        def __repr__(self):
            return "own"

        __hash__ = None

    return Span, Made, Own


def failed_of(make):
    @make.frozen(eq=False)
    class Failed(Exception):
        error: str
        more: tuple = ()

    return Failed


def evolve(item, **changes):
    return (attrs.evolve if type(item) in ATTRS else maker.evolve)(item, **changes)


def called(class_, *given, **named):
    try:
        return class_(*given, **named)
    except TypeError as error:
        return str(error)


def look(class_):
    """What there is to see of a class without an object."""
    parameters = inspect.signature(class_).parameters.values()
    return (
        [(each.name, each.kind, each.default is each.empty) for each in parameters],
        set(class_.__slots__) - {"__dict__", "twice"},
        class_.__match_args__,
        class_.__hash__ is None,
        [
            (each.name, each.type, each.init, each.eq, each.repr, each.kw_only, each.inherited)
            for each in attrs.fields(class_)
        ],
        attrs.has(class_),
        class_.__doc__,
    )


BODIES = (point_of, counter_of, nodes_of, options_of, hashed_of, failed_of)


def made_by(make):
    made = [body(make) for body in BODIES]
    return [each for one in made for each in (one if isinstance(one, tuple) else (one,))]


ATTRS = made_by(attrs)
OURS = made_by(maker)
PAIRS = list(zip(ATTRS, OURS, strict=True))
CALLS = (
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, 3), {}),
    ((1,), {"y": 2}),
    ((1,), {"tags": ["a"]}),
    ((1,), {"span": 4}),
    ((1, 2), {"span": 4}),
    ((1, 2), {"names": {}}),
    ((), {"count": 3, "names": {"a": 1}}),
    ((), {"whole": [1, 2]}),
    ((), {"width": 1, "height": 2}),
    ((1,), {"_count": 2}),
    ((1, 2, 3, 4, 5), {}),
)


@pytest.mark.parametrize(("attrs_own", "ours"), PAIRS)
def test_a_class_is_what_attrs_would_have_made(attrs_own, ours):
    """Its arguments, slots, fields and what it shows; objects, their equality and their copies."""
    assert look(ours) == look(attrs_own)
    for given, named in CALLS:
        first, second = called(attrs_own, *given, **named), called(ours, *given, **named)
        assert repr(second) == repr(first)
        if isinstance(first, str):
            continue
        again, other = called(ours, *given, **named), called(ours, *given[:-1], 9, **named)
        assert (second == again) == (first == called(attrs_own, *given, **named))
        if not isinstance(other, str):
            assert (second == other) == (first == called(attrs_own, *given[:-1], 9, **named))
        assert second.__eq__(first) is NotImplemented or type(first).__name__ == "Own"
        assert weakref.ref(second)() is second
        assert repr(copy.copy(second)) == repr(second)
        if ours.__hash__ is not None and ours.__eq__ is not object.__eq__:
            assert hash(second) == hash(again)


def test_an_object_is_changed_as_attrs_changes_it():
    """By `attrs.evolve` as well; what callers cannot give is computed again."""
    for make in (attrs, maker):
        counter = counter_of(make)(2, {"a": 1})
        for change in (attrs.evolve, make.evolve):
            changed = change(counter, count=5)
            assert (changed._count, changed.size, changed.after) == (5, 6, "after 6")
            assert changed.names is counter.names
    counter = counter_of(maker)(2, {"a": 1}, (3,))

    assert attrs.asdict(point_of(maker)(1, 2, ["a"])) == {"x": 1, "y": 2, "tags": ["a"]}
    assert maker.attributes(point_of(maker)(1, 2, ["a"])) == {"x": 1, "y": 2, "tags": ["a"]}
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        maker.evolve(counter, z=1)


def test_what_is_frozen_stays_as_it_is():
    """Except that Python may note where an exception was raised."""
    for make in (attrs, maker):
        point = point_of(make)(1)
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            point.x = 2
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            del point.x
        failed = failed_of(make)
        with pytest.raises(failed) as found:
            try:
                raise ValueError("cause")
            except ValueError as cause:
                raise failed("e", (1,)) from cause
        assert (found.value.args, str(found.value.__cause__)) == (("e", (1,)), "cause")
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            found.value.error = "other"


def test_methods_mean_the_class_that_was_made():
    """`super()` in them; what is computed once is kept."""
    for make in (attrs, maker):
        _, leaf, placed = nodes_of(make)
        assert leaf(1, span=2).name() == "leaf, a node"
        thing = placed(1, 2, 3)
        assert thing.twice is thing.twice
        match thing:
            case placed(value, depth, span):
                assert (value, depth, span) == (1, 2, 3)


def test_objects_of_the_package_travel():
    """Pickled and read again; frozen ones too."""
    from sexplang.terms.source import Source, Span
    from sexplang.terms.work import Work

    source = Source("a", "(f)\n(g)")
    span, work = Span(source, 0, 3), Work("w1", "task", "t")
    assert span.begin.line == 1
    _, same = pickle.loads(pickle.dumps((source, span)))

    assert (same.text, same.finish.line, same.source.name) == ("(f)", 1, "a")
    assert pickle.loads(pickle.dumps(work)) == work


def test_what_is_not_understood_is_refused():
    """Rather than left out."""
    with pytest.raises(TypeError, match="`validator` of a field is not understood"):
        maker.field(validator=attrs.validators.instance_of(int))
    with pytest.raises(TypeError, match="unexpected keyword argument 'order'"):
        maker.frozen(order=True)(type("Ordered", (), {"__annotations__": {"x": int}}))


def test_methods_are_written_when_they_are_needed():
    """And are then plain functions of the class, looked up as any other."""
    class_ = point_of(maker)
    assert not inspect.isfunction(vars(class_)["__init__"])
    point, same = class_(1), class_(1)

    assert inspect.isfunction(vars(class_)["__init__"])
    assert not inspect.isfunction(vars(class_)["__eq__"])
    assert point == same and hash(point) == hash(same)
    assert inspect.isfunction(vars(class_)["__eq__"]) and inspect.isfunction(
        vars(class_)["__hash__"]
    )
    assert class_.__init__.__qualname__ == f"{class_.__qualname__}.__init__"


def classes():
    found = {}
    for module in pkgutil.walk_packages(sexplang.__path__, "sexplang."):
        if not module.name.endswith("__main__"):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, type) and "__fields__" in vars(value):
                    found[value] = None
    return list(found)


def test_every_class_of_the_package_takes_what_attrs_says():
    """Its arguments are those of its fields as attrs describes them, and it can be compared."""
    every = classes()
    assert len(every) > 250
    for class_ in every:
        expected = [
            (each.alias, bool(each.kw_only), each.default is attrs.NOTHING)
            for each in attrs.fields(class_)
            if each.init
        ]
        taken = [
            (each.name, each.kind is each.KEYWORD_ONLY, each.default is each.empty)
            for each in inspect.signature(class_).parameters.values()
        ]
        assert sorted(taken) == sorted(expected), class_
        assert inspect.isfunction(class_.__eq__) or class_.__eq__ is object.__eq__
