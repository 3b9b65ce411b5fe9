"""The kinds of what functions of the library give, where it is never false or nil."""

from typing import Any

from sexplang.terms.core import Call, CallKnown, CallPrimitive, Const, Known
from sexplang.terms.program import Program
from sexplang.terms.values.value import Higher

_NAMES = {
    "number": (
        "length string-length string-count sum product mean median + - * / modulo remainder "
        "quotient abs min max round floor ceiling truncate exact inexact expt sqrt ln exp "
        "char->integer count now date-diff"
    ),
    "text": (
        "str string-append string-trim string-trim-left string-trim-right string-join substring "
        "string-upcase string-downcase string-capitalize string-replace string-reverse re-replace "
        "string-take string-drop string-take-right string-drop-right string-repeat string-ref "
        "string-pad-left string-pad-right format number->string symbol->string list->string "
        "integer->char json-string csv-string markdown-table iso-date iso-time format-date "
        "url-encode url-decode"
    ),
    "list": (
        "list append cons rest cdr keys values entries take drop take-right drop-right slice "
        "split-at distinct reverse range iota zip flatten enumerate frequencies chunk windows "
        "interpose delete make-list string-split string-lines string->list re-seq re-split "
        "csv-parse csv-rows map filter sort sort-by group-by flat-map filter-map map-indexed "
        "partition take-while drop-while par-map"
    ),
    "table": (
        "put put-in remove merge merge-with from-entries zipmap select-keys map-values map-keys "
        "filter-table index-by update update-in"
    ),
}

RESULT_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
"""The kind of what a function gives, by its name."""


def library_name(program: Program, node: Any) -> str:
    """Return the name of the function of the library that a node calls; empty for any other."""
    if type(node) is CallPrimitive:
        return node.primitive.name
    if type(node) is Call and type(node.callee) is Const:
        value = node.callee.value
        return value.name if isinstance(value, Higher) else ""
    index = -1
    if type(node) is CallKnown:
        index = node.function
    elif type(node) is Call and type(node.callee) is Known:
        index = node.callee.function
    if index < 0:
        return ""
    function = program.functions[index]
    is_library = function.span is not None and function.span.source.name.startswith("std/")
    return function.name if is_library else ""
