"""Slots to an environment: any number of them, one after the other or at once."""

from sexplang.analysis.domain.environments import OWN
from sexplang.analysis.domain.values import Values


def test_slots_are_found_however_many_come_before_them():
    values = Values()
    slots = tuple([values.constant(at) for at in range(3 * OWN + 5)])
    whole = values.environment(None, slots)

    assert [whole.slot(at) for at in range(1, len(slots) + 1)] == [*slots]
    assert whole.all() == slots and whole.size == len(slots)
    assert whole.slot(0) is None and whole.slot(len(slots) + 1) is None


def test_the_same_slots_are_the_same_environment():
    values = Values()
    slots = tuple([values.constant(at) for at in range(2 * OWN)])
    grown = values.environment(None, ())
    for slot in slots:
        grown = values.wider(grown, (slot,))

    assert grown is values.environment(None, slots)
