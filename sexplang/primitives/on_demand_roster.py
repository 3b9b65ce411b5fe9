"""The table of the primitives that are imported at the first call: a start without them pays
nothing."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

from sexplang.terms.values.value import Value

_Row: TypeAlias = tuple[str, str, str, str]
"""A name, its function's name, its parameters and its doc."""

_CHARACTERS: tuple[_Row, ...] = (
    ("string-index", "index", "s part [start]", 'Or nil. (string-index "tea" "a") ;=> 2'),
    ("string-index-right", "last_index", "s part", '(string-index-right "tet" "t") ;=> 2'),
    ("string-prefix?", "has_prefix", "prefix s", '(string-prefix? "te" "tea") ;=> true'),
    ("string-suffix?", "has_suffix", "suffix s", '(string-suffix? "ea" "tea") ;=> true'),
    ("starts-with?", "starts_with", "s prefix", '(starts-with? "tea" "te") ;=> true'),
    ("ends-with?", "ends_with", "s suffix", '(ends-with? "tea" "te") ;=> false'),
    ("string-count", "count", "s part", 'How often it occurs. (string-count "aba" "a") ;=> 2'),
    ("string-lines", "lines", "s", '(string-lines "a\\nb\\n") ;=> ["a" "b"]'),
    ("string->list", "to_list", "s", 'Its characters. (string->list "ab") ;=> ["a" "b"]'),
    ("list->string", "from_list", "xs", '(list->string ["a" "b"]) ;=> "ab"'),
    ("string-ref", "reference", "s index", 'One character. (string-ref "tea" 1) ;=> "e"'),
    ("string-take", "take", "s n", 'At most the first n. (string-take "tea" 2) ;=> "te"'),
    ("string-drop", "drop", "s n", 'All but the first n. (string-drop "tea" 2) ;=> "a"'),
    ("string-take-right", "take_right", "s n", '(string-take-right "tea" 2) ;=> "ea"'),
    ("string-drop-right", "drop_right", "s n", '(string-drop-right "tea" 2) ;=> "t"'),
    (
        "string-pad-left",
        "pad_left",
        "s width [fill]",
        'Never cut. (string-pad-left "7" 3 "0") ;=> "007"',
    ),
    (
        "string-pad-right",
        "pad_right",
        "s width [fill]",
        'Never cut. (string-pad-right "a" 3) ;=> "a  "',
    ),
    ("string-repeat", "repeat", "s n", '(string-repeat "ab" 2) ;=> "abab"'),
    ("string-reverse", "reverse", "s", '(string-reverse "abc") ;=> "cba"'),
    ("string-capitalize", "capitalize", "s", '(string-capitalize "tea") ;=> "Tea"'),
    ("string-trim-left", "trim_left", "s", '(string-trim-left " a ") ;=> "a "'),
    ("string-trim-right", "trim_right", "s", '(string-trim-right " a ") ;=> " a"'),
    ("string-blank?", "is_blank", "s", 'Only white space? (string-blank? " ") ;=> true'),
    ("string<?", "less", "s t …", 'By code points. (string<? "a" "b") ;=> true'),
    ("string>?", "more", "s t …", '(string>? "a" "b") ;=> false'),
    ("string<=?", "at_most", "s t …", '(string<=? "a" "a" "b") ;=> true'),
    ("string>=?", "at_least", "s t …", '(string>=? "b" "a") ;=> true'),
    ("string-ci=?", "alike", "s t …", 'In any case. (string-ci=? "Tea" "TEA") ;=> true'),
    ("char->integer", "code", "s", 'The code point. (char->integer "A") ;=> 65'),
    ("integer->char", "from_code", "n", '(integer->char 65) ;=> "A"'),
    ("string->symbol", "to_symbol", "s", '(string->symbol "a") ;=> \'a'),
    ("symbol->string", "from_symbol", "symbol", '(symbol->string \'a) ;=> "a"'),
)

_PATTERNS: tuple[_Row, ...] = (
    ("re-find", "find", "pattern s", 'The first match, or nil. (re-find "[0-9]+" "a 12") ;=> "12"'),
    (
        "re-matches",
        "match_whole",
        "pattern s",
        'Of all. (re-matches "(.)(.)" "ab") ;=> ["ab" "a" "b"]',
    ),
    ("re-seq", "find_all", "pattern s", 'All matches. (re-seq "[0-9]" "a1b2") ;=> ["1" "2"]'),
    (
        "re-replace",
        "replace",
        "pattern s replacement",
        'All; `$1` is a group. (re-replace "(.)1" "a1" "$1") ;=> "a"',
    ),
    ("re-split", "split", "pattern s", '(re-split ", *" "a,b, c") ;=> ["a" "b" "c"]'),
)

_DATES: tuple[_Row, ...] = (
    (
        "parse-date",
        "parse_date",
        "s [pattern] [zone]",
        'Its seconds. (parse-date "01.05.2024" "%d.%m.%Y") ;=> 1714521600',
    ),
    (
        "format-date",
        "format_date",
        "date pattern [zone]",
        '(format-date "2024-05-01" "%B %e, %Y") ;=> "May 1, 2024"',
    ),
    ("iso-date", "iso_date", "date [zone]", 'The day. (iso-date 0) ;=> "1970-01-01"'),
    (
        "iso-time",
        "iso_time",
        "date [zone]",
        '(iso-time 0 "+01:00") ;=> "1970-01-01T01:00:00+01:00"',
    ),
    (
        "date-parts",
        "date_parts",
        "date [zone]",
        (
            "(date-parts 0) ;=> {year: 1970 month: 1 day: 1 hour: 0 minute: 0 second: 0 "
            "weekday: 4 week: 1 yearday: 1 offset: 0}"
        ),
    ),
    (
        "make-date",
        "make_date",
        "parts [zone]",
        'ISO text. (make-date {year: 2024 month: 5}) ;=> "2024-05-01"',
    ),
    (
        "date-add",
        "add",
        "date n [unit]",
        'As it was given. (date-add "2024-01-31" 1 \'months) ;=> "2024-02-29"',
    ),
    (
        "date-diff",
        "difference",
        "from to [unit]",
        '(date-diff "2024-02-28" "2024-03-01") ;=> 2',
    ),
    ("date?", "is_date", "x", 'Is it ISO text? (date? "2024-02-30") ;=> false'),
)

_DURATIONS: tuple[_Row, ...] = (
    ("parse-duration", "parse_duration", "s", 'Its seconds. (parse-duration "1h 30m") ;=> 5400'),
    ("format-duration", "format_duration", "seconds", '(format-duration 5400) ;=> "PT1H30M"'),
)

_CSV: tuple[_Row, ...] = (
    (
        "csv-parse",
        "parse",
        "s [separator]",
        'Tables by its first line. (csv-parse "a,b\\n1,2") ;=> [{a: "1" b: "2"}]',
    ),
    ("csv-rows", "parse_rows", "s [separator]", '(csv-rows "a,b\\n1") ;=> [["a" "b"] ["1"]]'),
    (
        "csv-string",
        "write",
        "rows [columns] [separator]",
        'Of tables or lists. (csv-string [{a: 1 b: nil}]) ;=> "a,b\\n1,\\n"',
    ),
    (
        "markdown-table",
        "write_markdown",
        "rows [columns]",
        '(markdown-table [{a: 1 b: 2}] ["b"]) ;=> "| b |\\n| --- |\\n| 2 |\\n"',
    ),
)

_ENCODINGS: tuple[_Row, ...] = (
    ("base64-encode", "to_base64", "s", '(base64-encode "tea") ;=> "dGVh"'),
    ("base64-decode", "from_base64", "s", '(base64-decode "dGVh") ;=> "tea"'),
    ("url-encode", "to_percent", "s", '(url-encode "a b") ;=> "a%20b"'),
    ("url-decode", "from_percent", "s", '(url-decode "a%20b") ;=> "a b"'),
    (
        "sha256",
        "sha256",
        "s",
        (
            'In hexadecimal digits. (sha256 "") ;=> '
            '"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"'
        ),
    ),
    ("md5", "md5_hash", "s", '(md5 "") ;=> "d41d8cd98f00b204e9800998ecf8427e"'),
)

_COLLECTIONS: tuple[_Row, ...] = (
    ("second", "second", "xs", "(second [5 6]) ;=> 6"),
    ("third", "third", "xs", "(third [5 6 7]) ;=> 7"),
    ("take-right", "take_right", "xs n", "At most the last n. (take-right [1 2 3] 2) ;=> [2 3]"),
    ("drop-right", "drop_right", "xs n", "(drop-right [1 2 3] 2) ;=> [1]"),
    ("slice", "slice_items", "xs start [end]", "The end excluded. (slice [1 2 3] 1 2) ;=> [2]"),
    ("split-at", "split_at", "xs n", "(split-at [1 2 3] 1) ;=> [[1] [2 3]]"),
    ("chunk", "chunk", "xs size", "(chunk [1 2 3] 2) ;=> [[1 2] [3]]"),
    ("windows", "windows", "xs size", "Of neighbours. (windows [1 2 3] 2) ;=> [[1 2] [2 3]]"),
    ("sum", "total", "xs", "(sum [1 2 3]) ;=> 6"),
    ("product", "product", "xs", "(product [2 3]) ;=> 6"),
    ("mean", "mean", "xs", "(mean [1 2]) ;=> 1.5"),
    ("median", "median", "xs", "(median [5 1 3]) ;=> 3"),
    ("enumerate", "enumerate_items", "xs [start]", '(enumerate ["a"]) ;=> [[0 "a"]]'),
    ("frequencies", "frequencies", "xs", 'Pairs. (frequencies ["a" "a"]) ;=> [["a" 2]]'),
    ("delete", "delete", "x xs", "The list without it. (delete 1 [1 2]) ;=> [2]"),
    ("make-list", "make_list", "n [fill]", "(make-list 2 0) ;=> [0 0]"),
    ("iota", "iota", "n [start] [step]", "(iota 3 1) ;=> [1 2 3]"),
    ("interpose", "interpose", "separator xs", "(interpose 0 [1 2]) ;=> [1 0 2]"),
    ("entries", "entries", "t", 'Pairs. (entries {a: 1}) ;=> [["a" 1]]'),
    ("from-entries", "from_entries", "pairs", '(from-entries [["a" 1]]) ;=> {a: 1}'),
    ("zipmap", "zip_table", "keys xs", '(zipmap ["a"] [1]) ;=> {a: 1}'),
    ("select-keys", "select_keys", "t keys", '(select-keys {a: 1 b: 2} ["a"]) ;=> {a: 1}'),
    ("put-in", "put_in", "t keys value", '(put-in {} ["a" "b"] 1) ;=> {a: {b: 1}}'),
)

_ELEMENTARY: tuple[_Row, ...] = (
    ("exp", "exponential", "x", "A power of e. (exp 0) ;=> 1.0"),
    ("ln", "natural_logarithm", "x", "(ln 1) ;=> 0.0"),
    ("log2", "binary_logarithm", "x", "(log2 8) ;=> 3.0"),
    ("log10", "decimal_logarithm", "x", "(log10 1000) ;=> 3.0"),
    ("sin", "sine", "x", "Of radians. (sin 0) ;=> 0.0"),
    ("cos", "cosine", "x", "Of radians. (cos 0) ;=> 1.0"),
    ("tan", "tangent", "x", "Of radians. (tan 0) ;=> 0.0"),
    ("asin", "arc_sine", "x", "In radians. (asin 1) ;=> 1.5707963267948966"),
    ("acos", "arc_cosine", "x", "In radians. (acos -1) ;=> 3.141592653589793"),
    ("atan", "arc_tangent", "y [x]", "In radians. (atan 1 1) ;=> 0.7853981633974483"),
)

_VECTORS: tuple[_Row, ...] = (
    ("vector-dot", "dot", "a b", "The dot product. (vector-dot [1 2] [3 4]) ;=> 11.0"),
    ("vector-cosine", "cosine", "a b", "From -1 to 1. (vector-cosine [2 0] [1 0]) ;=> 1.0"),
    (
        "vector-nearest",
        "nearest",
        "k query vectors",
        "Pairs. (vector-nearest 1 [1 0] [[0 1] [2 0]]) ;=> [[1 1.0]]",
    ),
)

_FORMATS: tuple[_Row, ...] = (
    ("format", "format_text", "template x …", '(format "~a of ~s" 1 "x") ;=> "1 of \\"x\\""'),
)

_TYPES: tuple[_Row, ...] = (
    ("as", "hold_to", "T x", "The value, if it is of the type. (as [integer] [1 2]) ;=> [1 2]"),
)


def _on_demand(module: str, name: str) -> Callable[..., Value]:
    """Return a function that imports its module at the first call."""
    found: Any = None

    def call(*arguments: Value) -> Value:
        nonlocal found
        if found is None:
            found = getattr(import_module(f"sexplang.primitives.on_demand.{module}"), name)
        return found(*arguments)

    return call


ON_DEMAND: tuple[tuple[str, Callable[..., Value], str, str], ...] = tuple(
    (name, _on_demand(module, function), params, doc)
    for module, rows in (
        ("characters", _CHARACTERS),
        ("patterns", _PATTERNS),
        ("dates", _DATES),
        ("durations", _DURATIONS),
        ("csv_text", _CSV),
        ("encodings", _ENCODINGS),
        ("collections", _COLLECTIONS),
        ("elementary_functions", _ELEMENTARY),
        ("vectors", _VECTORS),
        ("formats", _FORMATS),
        ("types", _TYPES),
    )
    for name, function, params, doc in rows
)
