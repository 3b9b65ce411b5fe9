"""Values that are held to a type."""

from sexplang.primitives.sizes import wrong_type
from sexplang.schemas.values import check_value
from sexplang.terms.values.boundary import plain
from sexplang.terms.values.value import Fault, Value


def hold_to(schema: Value, value: Value, what: Value = None) -> Value:
    """Return the value. Raises Fault `type-misfit` with the paths at which it is not of the type.
    The compiler says `what` it is where it is no value of `as`: the argument of a tool.

    The type is a JSON Schema. Nothing is converted, and other fields than those of a table's type
    stay.
    """
    if not isinstance(schema, dict):
        raise wrong_type("as", "a type", schema, "a name of `define-type` is one")
    type_ = plain(schema)
    wrong = check_value(value, type_)
    if wrong is None:
        return value
    sentence = wrong.sentence.removeprefix("it does not fit: ")
    if what is not None:
        sentence = sentence.removeprefix("the value: ")
    name = f"type {type_['title']}" if "title" in type_ else "this type"
    words = f"the value is not of {name}" if what is None else f"{what} is not of its type"
    raise Fault(
        "type-misfit",
        f"{words}: {sentence}",
        details={"violations": wrong.violations or (sentence,)},
    )
