"""Templates of program text, with weights: what `writing` fills in.

Everything that is written denotes a number (or an error), so that whatever a handler, a branch or a
finally gives can be used further. The holes of a template:

    $a    a variable; the same letter, the same one
    #ab   a number, in whose scope $a and $b stand
    @ab   a body of one or more forms, likewise
    %     a test                 ^  the clauses of a handle
    &     an operation           !  the body of a clause of `error`
    |     the branches of a par  ~  the end of a handler that passes state
    ¢     how many calls a budget allows, few
    §     a number like no other in the program
    ¤     the name of a function that every program has
"""

Row = tuple[str, int, str]  # what must be allowed for it, weight, template

NUMBERS: list[Row] = [
    ("plain", 6, "(+ # #)"),
    ("plain", 3, "(- # #)"),
    ("plain", 1, "(* # #)"),
    ("plain", 4, "(if % # #)"),
    ("plain", 3, "(let (($a #)) @a)"),
    ("plain", 2, "(let (($a #) ($b #)) @ab)"),
    ("plain", 2, "(let* (($a #) ($b #a)) #ab)"),
    ("plain", 3, "(begin @)"),
    ("plain", 2, "((lambda ($a) @a) #)"),
    ("plain", 2, "(let ((f (lambda ($a $b) @ab))) (+ (f # 1) (f 2 #)))"),
    ("plain", 1, "(apply (lambda ($a $b) #ab) [# #])"),
    ("functions", 2, "(f0 #)"),
    ("functions", 2, "(f1 # #)"),
    ("functions", 1, "(down 3 #)"),
    ("plain", 1, "(begin (loop 2 #))"),
    ("plain", 2, "(loop ((n 0) ($a #) ($b #)) (if (< n 3) (recur (+ n 1) $b $a) (- $a $b)))"),
    ("plain", 2, "(loop ((n 0) ($a #) ($b #)) (if (< n 2) (recur (+ n 1) #ab $a) #ab))"),
    ("plain", 1, "(first (list # #))"),
    ("plain", 1, "(length [# #])"),
    ("plain", 2, "(let ((t {p: # q: {r: #}})) (- t.p t.q.r))"),
    ("plain", 1, "(fold (lambda ($a $b) (+ (* $a 2) #ab)) # [# 1])"),
    ("plain", 1, "(first (map (lambda ($a) #a) [# #]))"),
    ("plain", 1, "(or nil (and 1 #))"),
    ("plain", 3, "(ask #)"),
    ("plain", 1, "(perform ask #)"),
    ("plain", 3, "(begin (note #) #)"),
    ("plain", 5, "(& #)"),
    ("plain", 2, "(perform & #)"),
    ("plain", 1, "(model #)"),
    ("handlers", 8, "(handle # ^)"),
    ("handlers finally", 3, "(handle (try (+ (alpha #) #) (finally (note #))) ^)"),
    ("handlers finally", 2, "(handle (try (beta #) (finally (note #))) ((beta $a) k !))"),
    ("handlers", 6, "(handle (+ (alpha #) #) ^)"),
    ("handlers", 3, "(handle (- (beta #) (gamma #)) ^)"),
    ("handlers errors", 2, "(handle (+ (raise #) #) ((error e) k !))"),
    ("handlers kept", 2, "((handle # ((alpha x) k (lambda ($a) ((k $a) #a))) ~) #)"),
    (
        "handlers kept",
        2,
        "((handle (+ (alpha 1) #) ((alpha x) k (lambda (s) ((k s) (+ s x)))) ~) #)",
    ),
    (
        "handlers kept finally",
        1,
        "((handle (try # (finally (alpha 2))) ((alpha x) k (lambda (s) ((k x) 2))) ~) #)",
    ),
    (
        "handlers kept",
        2,
        "(loop ((r (handle (+ (alpha 1) #) ((alpha x) k k))) (n 0))"
        " (if (procedure? r) (if (< n 3) (recur (r n) (+ n 1)) #) r))",
    ),
    ("errors", 3, "(try @ (catch (e) @))"),
    ("errors", 2, "(try (+ 1 (raise #)) (catch (e) @))"),
    ("errors finally", 1, "(try (try @ (finally (note #))) (catch (e) (begin (note #) #)))"),
    ("errors finally", 1, "(try (try (raise #) (finally (note #))) (catch (e) (ask #)))"),
    ("errors", 2, '(try (raise {reason: "odd"}) (catch (e even) 0) (catch (e odd) #))'),
    ("errors", 2, "(try # (catch (e odd) #))"),
    ("errors", 1, "(try # (catch (e USER_ERROR) #) (catch (e) #))"),
    ("errors finally", 1, "(try # (catch (e wrong-type) #) (finally (note #)))"),
    ("errors finally", 2, "(try @ (catch (e) #) (finally (note #)))"),
    ("errors finally", 1, "(try # (catch (e) (raise e)) (finally #))"),
    ("errors", 1, "(raise #)"),
    ("errors", 1, '(raise {reason: "odd"})'),
    ("errors", 1, '(+ 1 "x")'),
    ("errors", 2, "(let ((r (attempt #))) (if (number? r) r -1))"),
    ("finally", 3, "(try @ (finally (note #)))"),
    ("finally", 1, "(try @ (finally #))"),
    ("finally", 1, "(try # (finally (note #) #))"),
    ("marked", 6, "(begin (enter §) (try @ (finally (leave §) #)))"),
    ("par", 3, "(first (par |))"),
    ("par errors", 1, "(try (par (raise #) (ask #)) (catch (e) #))"),
    ("par errors", 1, "(try (par # (raise #) (try (ask #) (finally (note #)))) (catch (e) #))"),
    ("par errors finally", 1, "(first (par # (try (raise #) (finally (note #)))))"),
    (
        "handlers par aborts",
        1,
        "(handle (first (par (alpha #) (note #))) ((alpha x) k (if % # (k #))))",
    ),
    ("par", 1, "(- (first (par (ask #) #)) (first (par (ask #))))"),
    ("par", 3, "(fold (lambda (x y) (+ (* x 3) y)) 0 (par |))"),
    ("par", 1, "(first (par-map (lambda ($a) #a) [# #]))"),
    ("par", 2, "(fold (lambda (x y) (- x y)) 0 (par-map (lambda ($a) #a) [# # #] limit: 2))"),
    ("races", 3, "(race |)"),
    ("races", 1, "(race (ask #) (begin (note #) #))"),
    ("races finally", 2, "(race (try (ask #) (finally (note #))) (try # (finally (note #))))"),
    ("races par", 1, "(race (first (par (ask #) #)) (ask #))"),
    ("races errors", 2, "(try (race (raise #) #) (catch (e all-failed) #))"),
    ("races handlers", 1, "(handle (race (alpha #) (beta #)) ^)"),
    ("timeouts", 3, "(with-timeout § @)"),
    ("timeouts", 1, "(with-budget {calls: 999 seconds: §} @)"),
    ("timeouts errors", 2, "(try (with-timeout § (+ (ask #) #)) (catch (e seconds) @))"),
    ("timeouts finally", 2, "(with-timeout § (try (ask #) (finally (note #) #)))"),
    (
        "timeouts finally par",
        1,
        "(with-timeout § (first (par # (try (ask #) (finally (note #))))))",
    ),
    ("timeouts handlers", 1, "(handle (+ (with-timeout § (alpha #)) (ask #)) ^)"),
    ("timeouts handlers", 2, "(handle (+ (with-timeout § (beta #)) #) ((beta $a) k (k (ask #a))))"),
    (
        "timeouts handlers kept",
        1,
        "(loop ((r (handle (with-timeout § (+ (alpha 1) (ask #))) ((alpha x) k k))) (n 0))"
        " (if (procedure? r) (if (< n 3) (recur (with-timeout § (r n)) (+ n 1)) #) r))",
    ),
    ("budgets", 3, "(with-budget {calls: ¢} @)"),
    ("budgets", 2, "(with-budget {calls: ¢} (+ (model #) #))"),
    ("budgets errors", 2, "(try (with-budget {calls: ¢} (+ (model #) #)) (catch (e calls) @))"),
    (
        "budgets errors",
        2,
        "(try (with-budget {calls: ¢} (try (+ (model #) #) (catch (e) #))) (catch (e calls) #))",
    ),
    ("budgets finally", 1, "(with-budget {calls: ¢} (try # (finally (model #))))"),
    ("budgets par", 1, "(with-budget {calls: ¢} (first (par (model #) #)))"),
    ("budgets handlers", 1, "(handle (+ (with-budget {calls: ¢} (alpha #)) (model #)) ^)"),
    (
        "budgets handlers",
        2,
        "(handle (with-budget {calls: ¢} (+ (beta #) #)) ((beta $a) k (k (model #a))))",
    ),
    (
        "budgets handlers kept",
        1,
        "(loop ((r (handle (with-budget {calls: ¢} (+ (alpha 1) (model #))) ((alpha x) k k)))"
        " (n 0)) (if (procedure? r) (if (< n 3) (recur (with-budget {calls: 2} (r n)) (+ n 1)) #)"
        " r))",
    ),
]

BODIES: list[Row] = [
    ("plain", 8, "#"),
    ("plain", 2, "# #"),
    ("plain", 2, "(bind $a #) #a"),
    ("plain", 1, "(begin (bind $a #) (bind $a #a)) #a"),
    ("plain", 1, "(define (g $a) #a) (define (h $a) (g (+ $a 1))) (h #)"),
]

TESTS: list[Row] = [
    ("plain", 3, "(< # #)"),
    ("plain", 2, "(= # #)"),
    ("plain", 1, "(not (< # #))"),
    ("plain", 1, "(and (< # #) (< 0 #))"),
]

CLAUSES: list[Row] = [
    ("aborts", 4, "#"),
    ("plain", 5, "(k #)"),
    ("plain", 2, "(if % (k #) (k #))"),
    ("plain", 2, "(begin (note #) (k #))"),
    ("plain", 1, "(let (($a #)) (k #a))"),
    ("aborts", 2, "(if % (k #) #)"),
    ("calls", 3, "(+ 1 (k #))"),
    ("calls", 2, "(let (($a (k #))) #a)"),
    ("calls finally", 1, "(try (k #) (finally (note #)))"),
    ("calls", 1, "(handle (k #) ((alpha x) k (k (+ x 1))))"),
    ("calls", 1, "(handle (k #) ((alpha x) k (+ x (k 1))) (return r (- r 1)))"),
    ("calls errors", 1, "(try (k #) (catch (e) #))"),
    ("calls aborts", 2, "(if % (+ 1 (k #)) #)"),
    ("calls aborts", 1, "(+ # (if % (k #) #))"),
    ("calls aborts", 1, "(begin (abandon k) #)"),
    ("calls aborts", 1, "(if % (begin (abandon k) #) (- (k #) 1))"),
    ("calls aborts", 1, "(begin (if % (abandon k) 0) #)"),
    ("kept", 1, "((lambda ($a) (k $a)) #)"),
    ("kept", 1, "(let ((q k)) (begin (abandon q) #))"),
    ("kept", 1, "(apply k [#])"),
    ("kept", 1, "(let ((q k)) (+ # (q #)))"),
    ("kept", 1, "(handle (begin (beta 1) (k #)) ((beta x) q ((lambda (y) (q y)) x)))"),
    ("multi", 4, "(+ (k #) (* 2 (k #)))"),
    ("multi", 2, "(begin (k #) (k #))"),
    ("multi", 2, "(if (< (k #) #) (k 1) (k 2))"),
    ("multi", 2, "(let ((q k)) (- (q #) (q #)))"),
    ("multi", 1, "(fold (lambda (x y) (+ x y)) 0 (map k [# #]))"),
    ("multi par", 1, "(fold (lambda (x y) (- x y)) 0 (par (k #) (k #)))"),
    ("multi par", 1, "(first (par-map k [# #] limit: 1))"),
    ("multi races", 1, "(race (k #) (k #))"),
    ("calls timeouts", 1, "(with-timeout § (k #))"),
    ("calls timeouts aborts", 1, "(with-timeout § (abandon k) #)"),
    ("calls budgets", 1, "(with-budget {calls: ¢} (k #))"),
    ("calls budgets aborts", 1, "(with-budget {calls: ¢} (abandon k) (model #))"),
]

# What stands where a number is wanted, in a program that is wrong on purpose.
ANYTHING: list[Row] = [
    ("plain", 1, "nil"),
    ("plain", 1, "true"),
    ("plain", 1, "-0.5"),
    ("plain", 1, "1e308"),
    ("plain", 1, "(expt 2 13000)"),
    ("plain", 1, '""'),
    ("plain", 1, '"naïve\\n"'),
    ("plain", 1, "'x"),
    ("plain", 1, "()"),
    ("plain", 1, "{}"),
    ("plain", 3, "[# #]"),
    ("plain", 2, "{a: # b: [#]}"),
    ("plain", 2, "(lambda ($a) #a)"),
    ("plain", 1, "(lambda ($a ($b 1) . more) #ab)"),
    ("plain", 2, "¤"),
    ("plain", 1, "(¤ #)"),
    ("plain", 1, "(¤ # #)"),
    ("plain", 3, "(apply ¤ [])"),
    ("plain", 8, "(apply ¤ [#])"),
    ("plain", 9, "(apply ¤ [# #])"),
    ("plain", 4, "(apply ¤ [# # #])"),
    ("plain", 4, "(apply ¤ [¤ #])"),
    ("plain", 4, "(apply ¤ [(lambda ($a) #a) [# #]])"),
    ("plain", 4, "(apply ¤ [(lambda ($a $b) #ab) # [# #]])"),
    ("plain", 3, "(apply ¤ [[# #] (lambda ($a $b) #ab)])"),
    ("plain", 3, '(apply ¤ [{a: #} "a" #])'),
    ("plain", 2, "(# #)"),
    ("plain", 1, "(handle # ((¤ $a) k #a))"),
    ("plain", 1, "(attempt #)"),
    ("plain", 1, "(begin (abandon #) #)"),
    ("plain", 1, "(match # ([$a 1] #a) ({a: $b} #b) ($c 2))"),
    ("plain", 1, "(with-timeout # #)"),
    ("plain", 1, "(with-budget # #)"),
    ("plain", 1, "(loop # #)"),
    ("plain", 1, "(race # #)"),
]

TABLES = {
    "NUMBERS": NUMBERS,
    "BODIES": BODIES,
    "TESTS": TESTS,
    "CLAUSES": CLAUSES,
    "ANYTHING": ANYTHING,
}
