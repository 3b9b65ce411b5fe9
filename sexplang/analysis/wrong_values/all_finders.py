"""The slips that give a wrong value, as far as the text shows them: `run` reports them, too."""

from sexplang.analysis.own_nodes import own_nodes
from sexplang.analysis.wrong_values.caught_errors import find_caught_errors
from sexplang.analysis.wrong_values.constant_predicates import find_constant_predicates
from sexplang.analysis.wrong_values.constant_tests import find_constant_tests
from sexplang.analysis.wrong_values.dotted_pairs import find_pairs
from sexplang.analysis.wrong_values.empty_arguments import find_empty_arguments
from sexplang.analysis.wrong_values.foreign_calls import find_foreign_calls
from sexplang.analysis.wrong_values.foreign_texts import find_foreign_texts
from sexplang.analysis.wrong_values.operators import find_operators
from sexplang.analysis.wrong_values.table_keys import find_table_slips
from sexplang.analysis.wrong_values.text_arguments import find_swapped_texts
from sexplang.analysis.wrong_values.unused_values import find_discarded
from sexplang.terms.diagnostic import Diagnostic
from sexplang.terms.program import Program


def find_wrong_values(program: Program, with_literals: bool = True) -> list[Diagnostic]:
    """Return them, in no order; without tests of literals, if what they make unreachable is
    reported."""
    nodes = list(own_nodes(program))
    return [
        *find_discarded(program, nodes),
        *find_swapped_texts(nodes),
        *find_constant_tests(program, nodes, with_literals),
        *find_constant_predicates(program, nodes),
        *find_caught_errors(nodes),
        *find_empty_arguments(program, nodes),
        *find_foreign_texts(program, nodes),
        *find_foreign_calls(program, nodes),
        *find_table_slips(program, nodes),
        *find_operators(nodes),
        *find_pairs(nodes),
    ]
