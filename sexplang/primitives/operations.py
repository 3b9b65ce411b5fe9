"""The operations that the host answers (language chapter 4), as functions."""

from sexplang.terms.host.host_operations import HOST_OPERATIONS
from sexplang.terms.values.value import Operation

OPERATIONS: dict[str, Operation] = {
    each.name: Operation(
        each.name,
        tuple([param.name for param in each.params]),
        each.least,
        each.rest,
        each.text,
        each.doc,
    )
    for each in HOST_OPERATIONS.values()
    if each.doc
}
