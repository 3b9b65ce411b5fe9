"""What a context knows of the scopes in force, wherever the work goes."""

from hypothesis import strategies as st
from support.examples import examples

from sexplang.machine.stack import Ctx

NAMES = st.sampled_from("abcdefgh")
PLANS = frozenset("aceg")


def entered(context, id):
    known = {*context.scopes, *context.expired_scopes}
    return context if id in known else context.with_scope(id, id in PLANS)


@st.composite
def contexts(draw):
    """Scopes are entered and break, work begins, a job is begun."""
    context = Ctx(None)
    for word, id in draw(st.lists(st.tuples(st.sampled_from("eebwj"), NAMES), max_size=12)):
        if word == "e":
            context = entered(context, id)
        elif word == "b" and id in context.scopes:
            context = context.with_expired(id)
        elif word == "w":
            context = context.replace((), None)
        elif word == "j":
            context = context.with_permit(id)
    return context


@examples(40, 200, contexts(), contexts(), st.sets(NAMES))
def test_the_plans_are_those_of_the_scopes(one, other, left):
    """Each step is paid for by the programs from a model that it is done in, and by no other: also
    where one has broken its budget, and this cleans up."""
    for context in (one, one.rebase(left, other, 0)):
        known = [id for id in (*context.scopes, *context.expired_scopes) if id in PLANS]
        assert sorted(context.plans) == sorted(known)
