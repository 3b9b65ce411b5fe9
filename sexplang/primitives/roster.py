"""The table of primitives, with the parameters of each and its documentation.

A doc is a sentence and an example with its value; a test evaluates every example.
"""

from collections.abc import Callable
from typing import TypeAlias

from sexplang.primitives import (
    arithmetic,
    json_text,
    kinds,
    lists,
    numbers,
    strings,
    tables,
)
from sexplang.primitives.charges import GROWING, with_charge
from sexplang.primitives.on_demand_roster import ON_DEMAND
from sexplang.primitives.sizes import KNOWN
from sexplang.terms.values import equality
from sexplang.terms.values.value import Primitive, Value, has_failed

_Row: TypeAlias = tuple[str, Callable[..., Value], str, str]
"""A name, its function, its parameters as in `s start [end]` or `x …`, and its doc."""

_NUMBERS: tuple[_Row, ...] = (
    ("+", arithmetic.add, "x …", "The sum. (+ 1 2 3) ;=> 6"),
    ("-", arithmetic.subtract, "x y …", "The difference, or the negative. (- 5 2) ;=> 3"),
    ("*", arithmetic.multiply, "x …", "The product. (* 2 3) ;=> 6"),
    ("/", arithmetic.divide, "x y …", "The quotient, exact where it can be. (/ 7 2) ;=> 3.5"),
    ("quotient", arithmetic.quotient, "n m", "Division towards zero. (quotient -7 2) ;=> -3"),
    ("remainder", arithmetic.remainder, "n m", "Signed as the first. (remainder -7 2) ;=> -1"),
    ("modulo", arithmetic.modulo, "n m", "Signed as the second. (modulo -7 2) ;=> 1"),
    ("even?", numbers.is_even, "n", "Is the integer even? (even? 4) ;=> true"),
    ("odd?", numbers.is_odd, "n", "Is the integer odd? (odd? 4) ;=> false"),
    ("zero?", numbers.is_zero, "x", "Is it 0? (zero? 0.0) ;=> true"),
    ("positive?", numbers.is_positive, "x", "Is it above 0? (positive? 2) ;=> true"),
    ("negative?", numbers.is_negative, "x", "Is it below 0? (negative? 2) ;=> false"),
    ("abs", numbers.absolute, "x", "Without its sign. (abs -3) ;=> 3"),
    ("min", numbers.lowest, "x y …", "The smallest. (min 3 1 2) ;=> 1"),
    ("max", numbers.highest, "x y …", "The largest; a float if one is. (max 1 2.0) ;=> 2.0"),
    (
        "round",
        numbers.round_even,
        "x [digits]",
        "To as many digits, ties to even. (round 2.345 1) ;=> 2.3",
    ),
    ("floor", numbers.round_down, "x", "The next integer below. (floor -1.5) ;=> -2.0"),
    ("ceiling", numbers.round_up, "x", "The next integer above. (ceiling 1.2) ;=> 2.0"),
    ("truncate", numbers.cut, "x", "Without its fraction. (truncate -1.5) ;=> -1.0"),
    ("exact", numbers.exact, "x", "A float as an exact integer. (exact 2.0) ;=> 2"),
    ("inexact", numbers.inexact, "x", "A number as a float. (inexact 2) ;=> 2.0"),
    ("sqrt", numbers.square_root, "x", "The square root, exact for a square. (sqrt 16) ;=> 4"),
    ("expt", numbers.power, "x n", "A power. (expt 2 10) ;=> 1024"),
    (
        "number->string",
        numbers.to_text,
        "x [radix]",
        'Its digits. (number->string 255 16) ;=> "ff"',
    ),
    ("string->number", numbers.from_text, "s [radix]", 'Or false. (string->number "1.5") ;=> 1.5'),
    ("=", arithmetic.alike, "x y …", "Are the numbers equal? (= 1 1.0) ;=> true"),
    ("<", arithmetic.less, "x y …", "Do the numbers rise? (< 1 2 3) ;=> true"),
    (">", arithmetic.more, "x y …", "Do the numbers fall? (> 3 2 2) ;=> false"),
    ("<=", arithmetic.at_most, "x y …", "Do they never fall? (<= 1 1 2) ;=> true"),
    (">=", arithmetic.at_least, "x y …", "Do they never rise? (>= 2 1 1) ;=> true"),
    ("!=", arithmetic.unlike, "x y", "Do two numbers differ? (!= 1 2) ;=> true"),
)

_TEXT: tuple[_Row, ...] = (
    ("str", strings.to_str, "x …", 'The texts of values, joined. (str "n" 1) ;=> "n1"'),
    ("string-append", strings.append, "s …", '(string-append "a" "b") ;=> "ab"'),
    ("string-length", strings.length, "s", 'Code points. (string-length "naïve") ;=> 5'),
    (
        "substring",
        strings.substring,
        "s start [end]",
        'From start to before end. (substring "abcd" 1 3) ;=> "bc"',
    ),
    (
        "string-split",
        strings.split,
        "s [separator]",
        'Without a separator, at white space. (string-split "a,b" ",") ;=> ["a" "b"]',
    ),
    (
        "string-join",
        strings.join,
        "xs [separator]",
        'Without a separator, by a space. (string-join ["a" "b"] ", ") ;=> "a, b"',
    ),
    ("string-trim", strings.trim, "s", 'Without white space around. (string-trim " a ") ;=> "a"'),
    ("string-upcase", strings.upcase, "s", '(string-upcase "a") ;=> "A"'),
    ("string-downcase", strings.downcase, "s", '(string-downcase "A") ;=> "a"'),
    ("string-contains?", strings.contains, "s part", '(string-contains? "tea" "ea") ;=> true'),
    (
        "string-replace",
        strings.replace,
        "s from to",
        'All of them. (string-replace "aa" "a" "b") ;=> "bb"',
    ),
    ("string=?", strings.same, "s t …", '(string=? "a" "a") ;=> true'),
)

_LISTS: tuple[_Row, ...] = (
    ("list", lists.make_list, "x …", "A list of its arguments. (list 1 2) ;=> [1 2]"),
    ("cons", lists.cons, "x xs", "An item before a list. (cons 1 [2]) ;=> [1 2]"),
    ("car", lists.car, "xs", "The first item. (car [1 2]) ;=> 1"),
    ("first", lists.first, "xs", "The first item. (first [1 2]) ;=> 1"),
    ("cdr", lists.cdr, "xs", "All but the first. (cdr [1 2]) ;=> [2]"),
    ("rest", lists.rest, "xs", "All but the first. (rest [1 2]) ;=> [2]"),
    ("nth", lists.nth, "xs index", "The item at an index from 0. (nth [5 6] 1) ;=> 6"),
    ("last", lists.last, "xs", "The last item. (last [1 2]) ;=> 2"),
    ("length", lists.length, "xs", "How many items. (length [1 2]) ;=> 2"),
    ("append", lists.append, "xs …", "Lists, joined. (append [1] [2]) ;=> [1 2]"),
    ("reverse", lists.reverse, "xs", "Back to front. (reverse [1 2]) ;=> [2 1]"),
    (
        "range",
        lists.make_range,
        "[start] end [step]",
        "Numbers, the end excluded. (range 1 7 2) ;=> [1 3 5]",
    ),
    ("take", lists.take, "xs n", "At most the first n. (take [1 2 3] 2) ;=> [1 2]"),
    ("drop", lists.drop, "xs n", "All after the first n. (drop [1 2 3] 2) ;=> [3]"),
    ("zip", lists.zip_lists, "xs ys …", "To the shortest. (zip [1 2] [3]) ;=> [[1 3]]"),
    ("member?", lists.member, "x xs", "Is it in the list? (member? 1 [1 2]) ;=> true"),
    (
        "assoc",
        lists.assoc,
        "key pairs",
        'The list that begins with it. (assoc 1 [[1 "a"]]) ;=> [1 "a"]',
    ),
    ("index-of", lists.index_of, "xs x", "Where it is first, or nil. (index-of [5 6] 6) ;=> 1"),
    ("flatten", lists.flatten, "xs", "Without inner lists. (flatten [1 [2 [3]]]) ;=> [1 2 3]"),
    ("distinct", lists.distinct, "xs", "Each once. (distinct [1 2 1.0]) ;=> [1 2]"),
)

_TABLES: tuple[_Row, ...] = (
    ("get", tables.get, "t key [default]", 'What is there, or a default. (get {a: 1} "a") ;=> 1'),
    ("get-in", tables.get_in, "t keys [default]", '(get-in {a: [1 2]} ["a" 1]) ;=> 2'),
    ("get-field", tables.get_field, "t key", "One field, or nil. (get-field {a: 1} 'a) ;=> 1"),
    ("get-property", tables.get_property, "t path", "(get-property {a: {b: 1}} 'a.b) ;=> 1"),
    ("put", tables.put, "t key value", "Another table with it. (put {a: 1} 'b 2) ;=> {a: 1 b: 2}"),
    ("remove", tables.remove, "t key", "Another table without it. (remove {a: 1} 'a) ;=> {}"),
    ("keys", tables.keys, "t", 'In order. (keys {a: 1 b: 2}) ;=> ["a" "b"]'),
    ("values", tables.values, "t", "In order. (values {a: 1 b: 2}) ;=> [1 2]"),
    ("merge", tables.merge, "t …", "The right wins. (merge {a: 1} {a: 2}) ;=> {a: 2}"),
    ("has-key?", tables.has_key, "t key", "(has-key? {a: nil} 'a) ;=> true"),
)

_TESTS: tuple[_Row, ...] = (
    ("nil?", kinds.is_nil, "x", "Is it nil? (nil? ()) ;=> false"),
    ("null?", kinds.is_null, "x", "Is it nil or the empty list? (null? ()) ;=> true"),
    ("empty?", tables.is_empty, "x", 'Is nothing in it? (empty? "") ;=> true'),
    ("list?", kinds.is_list, "x", "Is it a list? (list? [1]) ;=> true"),
    ("table?", kinds.is_table, "x", "Is it a table or a record? (table? {a: 1}) ;=> true"),
    ("string?", kinds.is_string, "x", 'Is it a string? (string? "a") ;=> true'),
    ("number?", kinds.is_number, "x", "Is it a number? (number? true) ;=> false"),
    ("integer?", kinds.is_integer, "x", "Has it no fraction? (integer? 2.0) ;=> true"),
    ("boolean?", kinds.is_boolean, "x", "Is it true or false? (boolean? nil) ;=> false"),
    ("symbol?", kinds.is_symbol, "x", "Is it a symbol? (symbol? 'a) ;=> true"),
    ("procedure?", kinds.is_procedure, "x", "Can it be called? (procedure? car) ;=> true"),
    ("task?", kinds.is_task, "x", "Is it an atomic task? (task? car) ;=> false"),
    ("failed?", has_failed, "x", "Is it a FAILED TaskResult? (failed? nil) ;=> false"),
    ("equal?", equality.equal, "x y", "Have they the same structure? (equal? [1] [1.0]) ;=> true"),
    ("eq?", equality.equal, "x y", "The same as equal?. (eq? 'a 'a) ;=> true"),
    ("not", kinds.negate, "x", "Is it false or nil? (not 0) ;=> false"),
)

_DATA: tuple[_Row, ...] = (
    ("json-parse", json_text.parse, "s", '(json-parse "[1, null]") ;=> [1 nil]'),
    (
        "json-string",
        json_text.to_json,
        "x [indent]",
        'With an indent, over several lines. (json-string [1 nil]) ;=> "[1,null]"',
    ),
    ("identity", kinds.identity, "x", "Its argument. (identity 1) ;=> 1"),
)


def _make(name: str, function: Callable[..., Value], params: str, doc: str) -> Primitive:
    words = params.split()
    rest = words[-1:] == ["…"]
    names = words[:-2] if rest else words
    least = sum(not word.startswith("[") for word in names)
    most = None if rest else len(names)
    if name in GROWING:
        function = with_charge(function, least, most)
    return Primitive(name, function, least, most, doc, params)


PRIMITIVES: dict[str, Primitive] = {
    name: _make(name, function, params, doc)
    for family in (_NUMBERS, _TEXT, _LISTS, _TABLES, _TESTS, _DATA, ON_DEMAND)
    for name, function, params, doc in family
}

KNOWN.update(PRIMITIVES)
