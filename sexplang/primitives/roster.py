"""The table of primitives, with the arity of each and its documentation.

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
from sexplang.terms.values import equality
from sexplang.terms.values.value import Primitive, Value, has_failed

_Row: TypeAlias = tuple[str, Callable[..., Value], int, int | None, str]

_NUMBERS: tuple[_Row, ...] = (
    ("+", arithmetic.add, 0, None, "The sum. (+ 1 2 3) ;=> 6"),
    ("-", arithmetic.subtract, 1, None, "The difference, or the negative. (- 5 2) ;=> 3"),
    ("*", arithmetic.multiply, 0, None, "The product. (* 2 3) ;=> 6"),
    ("/", arithmetic.divide, 1, None, "The quotient, exact where it can be. (/ 7 2) ;=> 3.5"),
    ("quotient", arithmetic.quotient, 2, 2, "Division towards zero. (quotient -7 2) ;=> -3"),
    ("remainder", arithmetic.remainder, 2, 2, "Signed as the first. (remainder -7 2) ;=> -1"),
    ("modulo", arithmetic.modulo, 2, 2, "Signed as the second. (modulo -7 2) ;=> 1"),
    ("abs", numbers.absolute, 1, 1, "Without its sign. (abs -3) ;=> 3"),
    ("min", numbers.lowest, 1, None, "The smallest. (min 3 1 2) ;=> 1"),
    ("max", numbers.highest, 1, None, "The largest; a float if one is. (max 1 2.0) ;=> 2.0"),
    ("round", numbers.round_even, 1, 1, "The nearest integer, ties to even. (round 2.5) ;=> 2.0"),
    ("floor", numbers.round_down, 1, 1, "The next integer below. (floor -1.5) ;=> -2.0"),
    ("ceiling", numbers.round_up, 1, 1, "The next integer above. (ceiling 1.2) ;=> 2.0"),
    ("truncate", numbers.cut, 1, 1, "Without its fraction. (truncate -1.5) ;=> -1.0"),
    ("exact", numbers.exact, 1, 1, "A float as an exact integer. (exact 2.0) ;=> 2"),
    ("inexact", numbers.inexact, 1, 1, "A number as a float. (inexact 2) ;=> 2.0"),
    ("sqrt", numbers.square_root, 1, 1, "The square root, exact for a square. (sqrt 16) ;=> 4"),
    ("expt", numbers.power, 2, 2, "A power. (expt 2 10) ;=> 1024"),
    ("number->string", numbers.to_text, 1, 2, 'Its digits. (number->string 255 16) ;=> "ff"'),
    ("string->number", numbers.from_text, 1, 2, 'Or false. (string->number "1.5") ;=> 1.5'),
    ("=", arithmetic.alike, 1, None, "Are the numbers equal? (= 1 1.0) ;=> true"),
    ("<", arithmetic.less, 1, None, "Do the numbers rise? (< 1 2 3) ;=> true"),
    (">", arithmetic.more, 1, None, "Do the numbers fall? (> 3 2 2) ;=> false"),
    ("<=", arithmetic.at_most, 1, None, "Do they never fall? (<= 1 1 2) ;=> true"),
    (">=", arithmetic.at_least, 1, None, "Do they never rise? (>= 2 1 1) ;=> true"),
    ("!=", arithmetic.unlike, 2, 2, "Do two numbers differ? (!= 1 2) ;=> true"),
)

_TEXT: tuple[_Row, ...] = (
    ("str", strings.to_str, 0, None, 'The texts of values, joined. (str "n" 1) ;=> "n1"'),
    ("string-append", strings.append, 0, None, '(string-append "a" "b") ;=> "ab"'),
    ("string-length", strings.length, 1, 1, 'Code points. (string-length "naïve") ;=> 5'),
    (
        "substring",
        strings.substring,
        2,
        3,
        'From start to before end. (substring "abcd" 1 3) ;=> "bc"',
    ),
    ("string-split", strings.split, 2, 2, '(string-split "a,b" ",") ;=> ["a" "b"]'),
    ("string-join", strings.join, 2, 2, '(string-join ["a" "b"] ", ") ;=> "a, b"'),
    ("string-trim", strings.trim, 1, 1, 'Without white space around. (string-trim " a ") ;=> "a"'),
    ("string-upcase", strings.upcase, 1, 1, '(string-upcase "a") ;=> "A"'),
    ("string-downcase", strings.downcase, 1, 1, '(string-downcase "A") ;=> "a"'),
    ("string-contains?", strings.contains, 2, 2, '(string-contains? "tea" "ea") ;=> true'),
    (
        "string-replace",
        strings.replace,
        3,
        3,
        'All of them. (string-replace "aa" "a" "b") ;=> "bb"',
    ),
    ("string=?", strings.same, 1, None, '(string=? "a" "a") ;=> true'),
    ("format", strings.format_text, 1, None, '(format "~a of ~s" 1 "x") ;=> "1 of \\"x\\""'),
)

_LISTS: tuple[_Row, ...] = (
    ("list", lists.make_list, 0, None, "A list of its arguments. (list 1 2) ;=> [1 2]"),
    ("cons", lists.cons, 2, 2, "An item before a list. (cons 1 [2]) ;=> [1 2]"),
    ("car", lists.car, 1, 1, "The first item. (car [1 2]) ;=> 1"),
    ("first", lists.first, 1, 1, "The first item. (first [1 2]) ;=> 1"),
    ("cdr", lists.cdr, 1, 1, "All but the first. (cdr [1 2]) ;=> [2]"),
    ("rest", lists.rest, 1, 1, "All but the first. (rest [1 2]) ;=> [2]"),
    ("nth", lists.nth, 2, 2, "The item at an index from 0. (nth [5 6] 1) ;=> 6"),
    ("last", lists.last, 1, 1, "The last item. (last [1 2]) ;=> 2"),
    ("length", lists.length, 1, 1, "How many items. (length [1 2]) ;=> 2"),
    ("append", lists.append, 0, None, "Lists, joined. (append [1] [2]) ;=> [1 2]"),
    ("reverse", lists.reverse, 1, 1, "Back to front. (reverse [1 2]) ;=> [2 1]"),
    ("range", lists.make_range, 1, 3, "Numbers, the end excluded. (range 1 7 2) ;=> [1 3 5]"),
    ("take", lists.take, 2, 2, "At most the first n. (take [1 2 3] 2) ;=> [1 2]"),
    ("drop", lists.drop, 2, 2, "All after the first n. (drop [1 2 3] 2) ;=> [3]"),
    ("zip", lists.zip_lists, 1, None, "To the shortest. (zip [1 2] [3]) ;=> [[1 3]]"),
    ("member?", lists.member, 2, 2, "Is it in the list? (member? 1 [1 2]) ;=> true"),
    ("assoc", lists.assoc, 2, 2, 'The list that begins with it. (assoc 1 [[1 "a"]]) ;=> [1 "a"]'),
    ("index-of", lists.index_of, 2, 2, "Where it is first, or nil. (index-of [5 6] 6) ;=> 1"),
    ("flatten", lists.flatten, 1, 1, "Without inner lists. (flatten [1 [2 [3]]]) ;=> [1 2 3]"),
    ("distinct", lists.distinct, 1, 1, "Each once. (distinct [1 2 1.0]) ;=> [1 2]"),
)

_TABLES: tuple[_Row, ...] = (
    ("get", tables.get, 2, 3, 'What is there, or a default. (get {a: 1} "a") ;=> 1'),
    ("get-in", tables.get_in, 2, 3, '(get-in {a: [1 2]} ["a" 1]) ;=> 2'),
    ("get-field", tables.get_field, 2, 2, "One field, or nil. (get-field {a: 1} 'a) ;=> 1"),
    ("get-property", tables.get_property, 2, 2, "(get-property {a: {b: 1}} 'a.b) ;=> 1"),
    ("put", tables.put, 3, 3, "Another table with it. (put {a: 1} 'b 2) ;=> {a: 1 b: 2}"),
    ("remove", tables.remove, 2, 2, "Another table without it. (remove {a: 1} 'a) ;=> {}"),
    ("keys", tables.keys, 1, 1, 'In order. (keys {a: 1 b: 2}) ;=> ["a" "b"]'),
    ("values", tables.values, 1, 1, "In order. (values {a: 1 b: 2}) ;=> [1 2]"),
    ("merge", tables.merge, 0, None, "The right wins. (merge {a: 1} {a: 2}) ;=> {a: 2}"),
    ("has-key?", tables.has_key, 2, 2, "(has-key? {a: nil} 'a) ;=> true"),
)

_TESTS: tuple[_Row, ...] = (
    ("nil?", kinds.is_nil, 1, 1, "Is it nil? (nil? ()) ;=> false"),
    ("null?", kinds.is_null, 1, 1, "Is it nil or the empty list? (null? ()) ;=> true"),
    ("empty?", tables.is_empty, 1, 1, 'Is nothing in it? (empty? "") ;=> true'),
    ("list?", kinds.is_list, 1, 1, "Is it a list? (list? [1]) ;=> true"),
    ("table?", kinds.is_table, 1, 1, "Is it a table or a record? (table? {a: 1}) ;=> true"),
    ("string?", kinds.is_string, 1, 1, 'Is it a string? (string? "a") ;=> true'),
    ("number?", kinds.is_number, 1, 1, "Is it a number? (number? true) ;=> false"),
    ("integer?", kinds.is_integer, 1, 1, "Has it no fraction? (integer? 2.0) ;=> true"),
    ("boolean?", kinds.is_boolean, 1, 1, "Is it true or false? (boolean? nil) ;=> false"),
    ("symbol?", kinds.is_symbol, 1, 1, "Is it a symbol? (symbol? 'a) ;=> true"),
    ("procedure?", kinds.is_procedure, 1, 1, "Can it be called? (procedure? car) ;=> true"),
    ("task?", kinds.is_task, 1, 1, "Is it an atomic task? (task? car) ;=> false"),
    ("failed?", has_failed, 1, 1, "Is it a FAILED TaskResult? (failed? nil) ;=> false"),
    ("equal?", equality.equal, 2, 2, "Have they the same structure? (equal? [1] [1.0]) ;=> true"),
    ("eq?", equality.equal, 2, 2, "The same as equal?. (eq? 'a 'a) ;=> true"),
    ("not", kinds.negate, 1, 1, "Is it false or nil? (not 0) ;=> false"),
)

_DATA: tuple[_Row, ...] = (
    ("json-parse", json_text.parse, 1, 1, '(json-parse "[1, null]") ;=> [1 nil]'),
    ("json-string", json_text.to_json, 1, 1, '(json-string [1 nil]) ;=> "[1,null]"'),
    ("identity", kinds.identity, 1, 1, "Its argument. (identity 1) ;=> 1"),
)

PRIMITIVES: dict[str, Primitive] = {
    name: Primitive(
        name, with_charge(function, least, most) if name in GROWING else function, least, most, doc
    )
    for family in (_NUMBERS, _TEXT, _LISTS, _TABLES, _TESTS, _DATA)
    for name, function, least, most, doc in family
}
