"""Programs that are made to break whoever reads, compiles or runs them; each with how it ends.

The tests hold each to its code, and the benchmark tells what each takes.
"""

from collections.abc import Mapping

from support.bounded import Hostile

from sexplang.machine import Limits
from sexplang.package.process import memory_in_use
from sexplang.terms.values.text import quote


def _group(
    code: str,
    texts: Mapping[str, str],
    limits: Limits = Limits(),  # noqa: B008
) -> dict[str, Hostile]:
    """Programs that all end in the same way."""
    return {name: Hostile(text, frozenset([code]), limits) for name, text in texts.items()}


# -- texts

LEVELS = 1_000_000
MACRO = "(define-syntax m (syntax-rules () {}))"
FAN = " ".join(
    f"(define-syntax m{at} (syntax-rules () ((_ x) (m{at - 1} (m{at - 1} x)))))"
    for at in range(1, 40)
)

NESTED = _group(
    "limit-depth",
    {
        "one level too many": "(" * 10_001 + ")" * 10_001,
        "a million brackets": "(" * LEVELS + ")" * LEVELS,
        "brackets that never close": "(" * LEVELS,
        "vectors": "[" * LEVELS,
        "tables": "{a: " * LEVELS,
        "calls": "(str " * 100_000,
        "quotes": "'" * LEVELS + "x",
        "quasiquotes": "`" * LEVELS + "x",
        "unquotes": "`" + "~" * LEVELS + "x",
        "bindings": "(let ((x 1)) " * 10_001 + "x" + ")" * 10_001,
    },
)

LARGE = _group(
    "limit-size",
    {
        "eleven million characters": "(+ 1 1)" * 1_600_000,
        "eleven million spaces": " " * 11_000_000 + "1",
        "a string of eleven million": '"' + "a" * 11_000_000 + '"',
        "two million forms": "1 " * 2_000_000,
        "two million strings": '"a" ' * 2_000_000,
        "a hundred thousand definitions": "".join(f"(define x{at} 1)" for at in range(100_000)),
        "a million forms left out": "#;x " * LEVELS,
        "a million marks": "#;" * LEVELS,
        "a million nested comments": "#||#" * LEVELS,
    },
)

WRONG = {
    name: Hostile(text, frozenset([code]))
    for name, (text, code) in {
        "a wrong one before two million forms": (") " + "1 " * 2_000_000, "stray-closer"),
        "a million closers": (")" * LEVELS, "stray-closer"),
        "a comment in a comment in a …": ("#|" * LEVELS, "unterminated-comment"),
        "a string without an end": ('"' + "a" * LEVELS, "unterminated-string"),
        "a block without an end": ('"""' + '"\n' * LEVELS, "unterminated-text"),
        "crossed brackets": ("([{" * 3_000 + ")]}" * 3_000, "label-expected"),
        "unclosed, line by line": ("(a b\n" * 10_000, "unclosed-bracket"),
        "a million digits": ("1" * LEVELS, "limit-number"),
        "nine million digits": ("9" * 9_000_000, "limit-number"),
        "a million digits of an exponent": ("1e" + "1" * LEVELS, "limit-number"),
        "a float that is none": ("1e999", "limit-number"),
        "a symbol of a million": ("a" * LEVELS, "unbound-name"),
        "a path of a million": ("(define a 1) a" + ".a" * LEVELS, "wrong-type"),
        "bad escapes": ('"' + "\\q" * 100_000 + '"', "bad-escape"),
        "labels and nothing else": ("(f " + "a: " * 50_000 + ")", "value-missing"),
        "the same definition again": ("(define x 1)" * 10_000, "defined-twice"),
        "names that nobody has bound": (" ".join(f"x{at}" for at in range(20_000)), "unbound-name"),
    }.items()
}

EXPANDING = _group(
    "limit-expansion",
    {
        "a macro that uses itself": MACRO.format("((_ x) (m x))") + "(m 1)",
        "a macro around itself": MACRO.format("((_ x) (m (m x)))") + "(m 1)",
        "a macro that uses itself twice": MACRO.format("((_ x) (begin (m (x)) (m (x))))") + "(m 1)",
        "a macro that doubles its operands": MACRO.format("((_ x ...) (m x ... x ...))") + "(m 1)",
        "forty macros, each twice the last": (
            "(define-syntax m0 (syntax-rules () ((_ x) (list x x))))" + FAN + "(m39 1)"
        ),
        "ellipses that multiply": (
            MACRO.format("((_ (a ...) (b ...)) (list (a b ...) ...))")
            + f"(m ({'f ' * 3_000}) ({'1 ' * 3_000}))"
        ),
    },
)

SOUND = _group(
    "",
    {
        "a million comments": ";\n" * LEVELS + "1",
        "comments in comments": "#|" * 100_000 + "|#" * 100_000 + " 1",
        "a million escapes": '(string-length "' + "\\u0041" * LEVELS + '")',
        "an empty block of a million lines": '(string-length """' + "\n" * LEVELS + '""")',
        "digits behind the point": "1." + "1" * LEVELS,
        "nearly ten thousand levels": "(if false 1 " * 9_990 + "2" + ")" * 9_990,
        "a pattern as deep": "(match 1 (" + "[" * 5_000 + "x" + "]" * 5_000 + " 1) (_ 2))",
        "a pattern of a macro as deep": (
            MACRO.format(f"((_ {'(' * 4_000}x{')' * 4_000}) 1)")
            + f"(m {'(' * 4_000}x{')' * 4_000})"
        ),
        "three thousand handlers": (
            "(define-effect (a x))" + "(handle " * 3_000 + "(a 1)" + " ((a x) k (k (a x))))" * 3_000
        ),
        "a thousand branches in one another": "(par " * 1_000 + "1" + ")" * 1_000,
        "a quarter of all words in one call": "(str " + "1 " * 50_000 + ")",
    },
)

# -- runs without end

ENDLESS = _group(
    "limit-steps",
    {
        "a loop": "(loop ((x 1)) (recur x))",
        "a function": "(define (f) (f)) (f)",
        "two functions": "(define (f x) (g x)) (define (g x) (f x)) (f 1)",
        "a function of itself": "((lambda (x) (x x)) (lambda (x) (x x)))",
        "a count": "(loop 1000000000000 1)",
        "a comparison": "(sort (range 1000) (lambda (a b) (loop ((x 1)) (recur x))))",
        "a clause": "(define-effect (a)) (handle (loop ((i 0)) (begin (a) (recur 1))) ((a) k (k)))",
        "all futures": (
            "(define-effect (flip))"
            "(handle (loop ((i 0)) (if (< i 64) (recur (+ i (if (flip) 1 1))) i))"
            " ((flip) k (+ (k true) (k false))))"
        ),
        "a finally": "(try (raise 1) (finally (loop ((x 1)) (recur x))))",
        "finally after finally": "(define (f) (try (raise 1) (finally (f)))) (f)",
        "error after error": "(define (f) (handle (raise 1) ((error e) k (f)))) (f)",
        "attempts": "(loop ((x 1)) (recur (attempt (raise x))))",
        "one branch": "(par (loop ((x 1)) (recur x)) 1)",
        "every branch": "(par-map (lambda (x) (loop ((y 1)) (recur y))) (range 1000))",
        "a plan": '(eval-plan "(loop ((x 1)) (recur x))")',
        "plan after plan": '(define (f) (eval-plan "(+ 1 1)") (f)) (f)',
        "a list of itself": "(loop ((s [1])) (recur [s s s s s s s s]))",
        "a list that grows in front": "(loop ((xs [])) (recur (cons 1 xs)))",
        "a list that grows at the end": "(loop ((xs [])) (recur (append xs [1])))",
        "a text that grows": '(loop ((s "")) (recur (str s "x")))',
        "rests": "(define xs (range 10000)) (loop ((i 0)) (begin (rest xs) (recur i)))",
        "a long map": "(map (lambda (x) (* x x)) (range 1000000))",
        "a long fold": "(fold + 0 (range 1000000))",
        "a long search": "(all? number? (range 1000000))",
        "members": "(define xs (range 10000)) (loop ((i 0)) (begin (member? nil xs) (recur i)))",
        "comparisons": (
            "(define xs (range 10000)) (define ys (range 10000))"
            "(loop ((i 0)) (begin (equal? xs ys) (recur i)))"
        ),
        "sums": "(define xs (range 10000)) (loop ((i 0)) (begin (apply + xs) (recur i)))",
        "equal items": (
            "(define xs (map (lambda (x) [1]) (range 10000)))"
            "(loop ((i 0)) (begin (distinct xs) (recur i)))"
        ),
        "errors in errors": "(loop ((x 1)) (recur (try (raise {reason: 'r v: x}) (catch (e) e))))",
        "futures of a deep stack": (
            "(define-effect (a)) (define-effect (b))"
            "(define (f n) (handle"
            " (if (= n 0) (loop ((i 0)) (begin (a) (recur i))) (f (- n 1))) ((b) k 1)))"
            "(handle (f 3000) ((a) k (list (k 1))))"
        ),
        "a request that is handed on three hundred times": (
            "(define-effect (a))"
            "(define (f n) (handle"
            " (if (= n 0) (loop ((i 0)) (begin (a) (recur i))) (f (- n 1)))"
            " ((a) k (forward k a))))"
            "(handle (f 300) ((a) k (k 1)))"
        ),
        "matches": "(loop ((v [1 [2 3]])) (match v ([a [b c]] (recur [b [c a]]))))",
        "JSON": (
            "(define s (json-string (range 1000))) (loop ((i 0)) (begin (json-parse s) (recur i)))"
        ),
        "a sort that needs frames": (
            "(define-effect (q)) (handle"
            " (sort (range 100000) (lambda (a b) (begin (q) (< a b)))) ((q) k (k)))"
        ),
        "a sort that needs none": "(sort (range 100000) (lambda (a b) true))",
    },
    Limits(steps=200_000),
)

MUTUAL = "(define (f x) (+ 1 (g x))) (define (g x) (+ 1 (f x))) (f 1)"

DEEP = _group(
    "limit-frames",
    {
        "a function": "(define (f x) (+ 1 (f x))) (f 1)",
        "two functions": MUTUAL,
        "a function of itself": "((lambda (x) (+ 1 (x x))) (lambda (x) (+ 1 (x x))))",
        "Fibonacci": "(define (fib n) (+ (fib (- n 1)) (fib (- n 2)))) (fib 100)",
        "map": "(define (f x) (map f [1 2])) (f 1)",
        "handle": "(define-effect (a)) (define (f) (handle (begin (a) (f)) ((a) k (k)))) (f)",
        "try": "(define (f) (try (f) (finally 1))) (f)",
        "two futures of every turn": (
            "(define-effect (a)) (define (f) (a) (f)) (handle (f) ((a) k (list (k 1) (k 2))))"
        ),
        "with-timeout": "(define (f) (with-timeout 1 (f))) (f)",
        "with-budget": "(define (f) (with-budget {calls: 1} (f))) (f)",
        "a chain of closures": (
            "(define (chain f i) (if (= i 0) f (chain (lambda (x) (+ 1 (f x))) (- i 1))))"
            "((chain identity 300000) 1)"
        ),
    },
    Limits(frames=100_000),
) | _group("limit-frames", {"two functions, two million times": MUTUAL})

FORKING = _group(
    "limit-branches",
    {
        "a par in a par in a …": "(define (f) (par (f))) (f)",
        "twice as many each time": "(define (f) (par (f) (f))) (f)",
        "a race": "(define (f) (race (f) (f))) (f)",
        "as wide as a list": "(par-map (lambda (x) (ask-user x)) (range 100000))",
        "as wide as the text": "(par " + "(ask-user 1) " * 10_000 + ")",
    },
    Limits(branches=5_000),
) | _group(
    "limit-model-calls",
    {"a call for each item": "(par-map (lambda (x) (model {messages: []})) (range 1000))"},
    Limits(model_calls=500),
)

PLANNED = {
    name: Hostile(
        "(define outcome (eval-plan text allow: ['ask-user]))".replace("text", quote(text))
        + ' (if (string=? outcome.status "failed") outcome.error.reason outcome.status)',
        frozenset([""]),
        Limits(plan_steps=300_000, plan_frames=50_000, allocation=5_000_000, branches=5_000),
    )
    for name, text in {
        "a function": "(define (f) (f)) (f)",
        "a function of itself": "(define (f) (+ 1 (f))) (f)",
        "a finally": "(try (raise 1) (finally (loop ((x 1)) (recur x))))",
        "every branch": "(par-map (lambda (x) (loop ((y 1)) (recur y))) (range 1000))",
        "a par in a par in a …": "(define (f) (par (f) (f))) (f)",
        "questions without end": "(define (f) (par (ask-user 1) (f))) (f)",
        "a list that grows": "(loop ((xs [])) (recur (cons 1 xs)))",
        "a table that grows": "(loop ((t {}) (i 0)) (recur (put t (str i) i) (+ i 1)))",
        "tables in tables": "(loop ((xs nil) (i 0)) (recur {a: xs b: i} (+ i 1)))",
        "closures": "(loop ((xs nil)) (recur (lambda () xs)))",
        "two futures of every turn": (
            "(define (f) (perform x) (f)) (handle (f) ((x) k (list (k 1) (k 2))))"
        ),
        "a large integer": "(expt 9 (expt 9 9))",
        "a plan in a plan": '(define (f x) (eval-plan x)) (f "(loop ((x 1)) (recur x))")',
        "a plan of itself": (
            '(define t "(eval-plan t inputs: {t: t})") (eval-plan t inputs: {t: t})'
        ),
        "brackets": "(" * 20_000,
        "a macro that uses itself": "(define-syntax m (syntax-rules () ((_ x) (m x)))) (m 1)",
    }.items()
}

COPYING = _group(
    "limit-allocation",
    {
        "lists of two halves": (
            "(define xs (range 1000)) (loop ((i 0)) (begin (append xs xs) (recur i)))"
        ),
        "a table that grows": "(loop ((t {}) (i 0)) (recur (put t (str i) i) (+ i 1)))",
        "texts of two halves": (
            '(define s (string-join (map str (range 1000)) ""))'
            "(loop ((i 0)) (begin (str s s) (recur i)))"
        ),
        "lists turned round": (
            "(define xs (range 10000)) (loop ((i 0)) (begin (reverse xs) (recur i)))"
        ),
        "tables with one value changed": (
            "(define t (fold (lambda (t i) (put t (str i) i)) {} (range 300)))"
            '(loop ((t t)) (recur (update t "1" identity)))'
        ),
        "texts in capitals": (
            '(define s (string-join (map str (range 1000)) ""))'
            "(loop ((i 0)) (begin (string-upcase s) (recur i)))"
        ),
        "captured lists": "(loop ((f 1)) (let ((xs (range 1000))) (recur (lambda () [f xs]))))",
        "mapped lists": "(loop ((i 0)) (begin (map (lambda (x) (* x x)) (range 1000)) (recur i)))",
    },
    Limits(allocation=5_000_000),
)

KEEPING = _group(
    "limit-memory",
    {
        "lists": "(loop ((kept ())) (recur [(range 100000) kept]))",
        "texts": (
            '(define s (string-join (map str (range 100000)) "")) '
            "(loop ((kept ()) (i 0)) (recur [(str s i) kept] (+ i 1)))"
        ),
        "tables": "(loop ((t {}) (i 0)) (recur {a: t b: [i i i]} (+ i 1)))",
        "closures": "(loop ((f 1)) (recur (lambda () f)))",
        "what closures see": "(loop ((f 1)) (let ((xs (range 10000))) (recur (lambda () [f xs]))))",
        "continuations": (
            "(define-effect (a)) (loop ((kept ())) (recur [(handle (begin (a) 1) ((a) k k)) kept]))"
        ),
        "errors": "(loop ((x 1)) (recur (attempt (raise {reason: 'r details: {x: x}}))))",
        "a large list": "(map (lambda (x) [x x]) (range 10000000))",
    },
    Limits(memory=75_000_000, held=memory_in_use),
)

# -- values

MILLION = '(string-join (map (lambda (i) "{}") (range 1000000)) "")'
X = MILLION.format("x")

INTEGERS = _group(
    "limit-integer",
    {
        "a tower": "(expt 9 (expt 9 9))",
        "a shift": "(expt 2 (expt 10 10))",
        "squares": "(loop ((x 3)) (recur (* x x)))",
        "sums with itself": "(loop ((x 3)) (recur (+ x x)))",
        "differences": "(loop ((x 3)) (recur (- (- x) x)))",
        "threefold": "(loop ((x 3)) (recur (* x 3)))",
        "a factorial": "(loop ((i 1) (x 1)) (recur (+ i 1) (* x i)))",
        "a factorial by calls": (
            "(define (fac n) (if (= n 0) 1 (* n (fac (- n 1))))) (fac 100000)"
        ),
        "a factorial in one call": "(apply * (range 1 1000000))",
        "a factorial by fold": "(fold * 1 (range 1 1000000))",
        "one call with large numbers": "(apply + (map (lambda (i) (expt 2 13999)) (range 1000)))",
        "a million digits": f"(string->number {MILLION.format('9')})",
        "a million digits in sixteens": f"(string->number {MILLION.format('f')} 16)",
        "a million digits of JSON": f"(json-parse {MILLION.format('9')})",
        "a float's digits": "(loop ((x (exact 1e308))) (recur (* x x)))",
    },
)

STRINGS = _group(
    "limit-string",
    {
        "append": '(loop ((s "x")) (recur (string-append s s)))',
        "str": '(loop ((s "x")) (recur (str s s)))',
        "join": f"(string-join (map str (range 100000)) {X})",
        "replace": f'(define s {X}) (string-replace s "x" s)',
        "format": f'(define s {X}) (format "{"~a" * 12}" {"s " * 12})',
        "upcase": f'(define t (string-replace {X} "x" "ﬃ")) (string-upcase (str {"t " * 9}))',
        "written lists": "(define xs (range 1000000)) (str xs xs)",
        "JSON": f"(define s {X}) (json-string [{'s ' * 11}])",
    },
)

LISTS = _group(
    "limit-list",
    {
        "range": "(range 1000000000)",
        "a range backwards": "(range 0 -1000000000 -1)",
        "a range of large numbers": "(range (expt 10 4000))",
        "a range in small steps": "(range 0 1 1e-300)",
        "append": "(loop ((s [1])) (recur (append s s)))",
        "flatten": "(flatten (loop ((s [1]) (i 0)) (if (< i 64) (recur [s s] (+ i 1)) s)))",
    },
)

# A value of sixty-four lists or tables that stands for more parts than there are atoms, and one
# that is twenty thousand levels deep.
SHAPES = {
    "shared lists": '(define v (loop ((s [1 "a"]) (i 0)) (if (< i 64) (recur [s s] (+ i 1)) s)))',
    "shared tables": (
        "(define v (loop ((s {a: 1}) (i 0)) (if (< i 64) (recur {a: s b: s} (+ i 1)) s)))"
    ),
    "deep lists": "(define v (loop ((s []) (i 0)) (if (< i 20000) (recur [s 1] (+ i 1)) s)))",
    "deep tables": (
        "(define v (loop ((s {}) (i 0)) (if (< i 20000) (recur {a: s b: 1} (+ i 1)) s)))"
    ),
}

USES = """
v | (str v) | (format "~s" v) | (format "~a" v) | (json-string v) | (json-parse (json-string v))
(equal? v v) | (equal? v [v v]) | (equal? [v v] [v v]) | (equal? v {a: v b: v})
(string-append "a" v) | (string-join [v v] "") | (string-length v) | (string->number v)
(first v) | (rest v) | (nth v v) | (take v 1) | (drop v 1) | (reverse v) | (append v v) | (zip v v)
(member? [v] [v v]) | (index-of [1 v] v) | (assoc v [[1 2] [v 3]]) | (flatten [v])
(distinct [v v]) | (get v "a") | (get v v) | (get-in v [v v]) | (put {} v 1)
(put v "x" v) | (merge v v) | (keys v) | (values v) | (remove v "a") | (update v "a" str)
(has-key? v v) | (empty? v) | (not v)
(+ 1 v) | (< v v) | (= v v) | (range v) | (sqrt v) | (number->string v) | (abs v)
(map str v) | (map v [1]) | (filter identity v) | (fold str "" [v v]) | (any? str v)
(apply list v) | (sort [v v] <) | (sort-by identity [v v]) | (group-by identity [v v 1])
(for-each str v) | (v 1) | (raise v) | (error "x" v) | (error v)
(attempt (raise v)) | (str (attempt (raise v)))
(try (raise v) (catch (e) (str e))) | (handle (raise v) ((error e) k (k v))) | (try v (finally v))
(match v ([1 2] 1)) | (match v ([[a b] c] 1) ({a: {a: x}} x) (_ 3)) | (case v (1 2)) | (if v 1 2)
(loop v 1) | (loop ((x v)) x) | `(1 ~v) | `(1 ~@v) | {x: v} | [v [v]] | v.a.b
(print v) | (log "info" v) | (ask-user v) | (write-file "x" v) | (sleep v) | (model v)
(tool "x" v) | (subtask v) | (perform print v)
(par v v) | (race v) | (par-map str v) | (with-timeout v 1) | (with-budget v 1) | (with-timeout 1 v)
(eval-plan v) | (eval-plan "x" inputs: {x: v}) | (eval-plan "1" budget: v) | (call-atomic-task v)
(get-context v) | (get-context "x" inputs: v) | (get-context "x" matcher: v) | (search-memory v)
""".replace("\n", " | ").split(" | ")

USED_OR_REFUSED = frozenset(
    {
        *("", "limit-string", "limit-list", "limit-data", "wrong-type", "wrong-arity", "no-match"),
        *(
            "not-a-function",
            "raised",
            "bad-json",
            "positions-only",
            "out-of-range",
            "unhandled-effect",
        ),
        *("input_validation_failure", "template_not_found", "unknown-label"),
    }
)

PLACED = {
    name: {use: Hostile(f"{definition} {use}", USED_OR_REFUSED) for use in USES if use}
    for name, definition in SHAPES.items()
}

QUADRATIC = _group(
    "",
    {
        "group-by": "(length (group-by identity (range 120000)))",
        "group-by of lists": "(length (group-by list (range 100000)))",
        "distinct": "(length (distinct (map (lambda (i) [i]) (range 120000))))",
        "numbers that share Python's hash": (
            "(length (distinct (map (lambda (i) (* i 2305843009213693951)) (range 100000))))"
        ),
        "lists of numbers that share Python's hash": (
            "(length (distinct (map (lambda (i) [(* i 2305843009213693951)]) (range 100000))))"
        ),
        "functions": "(length (distinct (map (lambda (i) (lambda () i)) (range 100000))))",
        "groups of functions": (
            "(length (group-by identity (map (lambda (i) (lambda () i)) (range 100000))))"
        ),
        "functions of numbers that share Python's hash": (
            "(define (f n) (lambda () n))"
            "(length (distinct (map (lambda (i) (f (* i 2305843009213693951))) (range 100000))))"
        ),
        "lists that hold the same list": (
            "(define xs (range 100000)) (length (distinct (map (lambda (i) [i xs]) xs)))"
        ),
        "lists that hold equal lists": (
            "(define xs (range 100000)) (define ys (range 100000))"
            "(length (distinct (map (lambda (i) [(if (= (modulo i 2) 0) xs ys)]) xs)))"
        ),
        "equal texts of two million characters": (
            '(define s (loop ((s "a") (i 0)) (if (< i 21) (recur (str s s) (+ i 1)) s)))'
            '(define t (str "a" (substring s 1)))'
            "(length (distinct (map (lambda (i) (if (= (modulo i 2) 0) s t)) (range 100000))))"
        ),
        "sort": "(length (sort (range 100000) (lambda (a b) (< b a))))",
        "equal? of what is shared in different ways": """
            (define (row below i)
              (map (lambda (j) (nth below (modulo (+ (* i j) i) 200))) (range 200)))
            (define (rows below) (map (lambda (i) (row below i)) (range 200)))
            (define a (rows (rows (rows (map list (range 200))))))
            (define b (rows (rows (rows (map list (range 200))))))
            (equal? (append a (reverse a)) (append b (reverse b)))""",
    },
)

LONG = '(define s (loop ((s "tea ") (i 0)) (if (< i 21) (recur (str s s) (+ i 1)) s)))'
SCANNING = _group(
    "limit-steps",
    {
        f"{name} of a long text": f'{LONG}(define t (str "a" (substring s 1)))(loop 1000000 {use})'
        for name, use in {
            "string-contains?": '(string-contains? s "milk")',
            "string-split": '(string-split s "milk")',
            "string=?": "(string=? s t s)",
            "equal?": "(equal? [s] [t])",
            "string->number": "(string->number s)",
            "eval-plan": "(eval-plan s)",
        }.items()
    },
    Limits(steps=1_000_000),
)

GROUPS: dict[str, dict[str, Hostile]] = {
    "nested": NESTED,
    "large": LARGE,
    "wrong": WRONG,
    "expanding": EXPANDING,
    "sound": SOUND,
    "endless": ENDLESS,
    "deep": DEEP,
    "forking": FORKING,
    "planned": PLANNED,
    "copying": COPYING,
    "keeping": KEEPING,
    "integers": INTEGERS,
    "strings": STRINGS,
    "lists": LISTS,
    "quadratic": QUADRATIC,
    "scanning": SCANNING,
    **PLACED,
}
"""All of them."""
