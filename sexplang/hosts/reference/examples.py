"""Examples of names whose documentation has none: a text, and its value after `;=>`.

Where a model or the world would have to answer, there is no value. Those of `std/` stand behind
an import of their module. A test evaluates them.
"""

_FORMS: dict[str, tuple[str, ...]] = {
    "quote": ("'(a b) ;=> ['a 'b]", "(quote a) ;=> 'a"),
    "quasiquote": ("`[1 ~(+ 1 1)] ;=> [1 2]",),
    "if": ('(if (> 2 1) "yes" "no") ;=> "yes"',),
    "when": ('(when (> 2 1) "yes") ;=> "yes"',),
    "unless": ('(unless (> 1 2) "no") ;=> "no"',),
    "cond": ('(cond ((> 1 2) "low") ((= 1 1) "even") (else "high")) ;=> "even"',),
    "case": ('(case 2 ((1 2) "few") (else "many")) ;=> "few"',),
    "match": (
        "(match [1 2 3] ([a . more] more) (_ nil)) ;=> [2 3]",
        '(match {kind: "note" n: 5} ({kind: "note" n: x} when (> x 3) x) (_ 0)) ;=> 5',
    ),
    "and": ("(and 1 2) ;=> 2",),
    "or": ("(or nil 3) ;=> 3",),
    "->": ('(-> {n: 1} (put \'m 2) keys) ;=> ["n" "m"]',),
    "define": ("(define (double n) (* 2 n)) (double 4) ;=> 8", "(define rate 2) rate ;=> 2"),
    "bind": ("(begin (bind n 1) (bind n (+ n 1)) n) ;=> 2",),
    "lambda": ("(map (lambda (x) (* x x)) [1 2 3]) ;=> [1 4 9]",),
    "fn": ("(map (fn (x) (* x x)) [1 2 3]) ;=> [1 4 9]",),
    "let": (
        "(let ((a 1) (b 2)) (+ a b)) ;=> 3",
        "(let next ((n 3)) (if (= n 0) [] (cons n (next (- n 1))))) ;=> [3 2 1]",
    ),
    "let*": ("(let* ((a 1) (b (+ a 1))) [a b]) ;=> [1 2]",),
    "letrec": (
        "(letrec ((down (lambda (n) (if (= n 0) 'done (down (- n 1)))))) (down 3)) ;=> 'done",
    ),
    "begin": ("(begin 1 2) ;=> 2",),
    "progn": ("(progn 1 2) ;=> 2",),
    "loop": (
        "(loop ((n 5) (sum 0)) (if (= n 0) sum (recur (- n 1) (+ sum n)))) ;=> 15",
        '(loop 3 "again") ;=> "again"',
    ),
    "recur": ("(loop ((n 3)) (if (= n 0) 'done (recur (- n 1)))) ;=> 'done",),
    "define-syntax": (
        "(define-syntax swap (syntax-rules () ((_ a b) [b a]))) (swap 1 2) ;=> [2 1]",
    ),
    "import": ("(import std/state)", '(import "tasks.xml")', '(import "lib.sexp" as: lib)'),
    "define-input": ('(define-input topic type: string default: "tea" doc: "what about")',),
    "define-effect": (
        '(define-effect (choose xs) "One of them.") '
        "(handle (choose [1 2]) ((choose xs) resume (resume (first xs)))) ;=> 1",
    ),
    "define-type": (
        "(define-type Cup {size: integer note?: string}) (as Cup {size: 2}) ;=> {size: 2}",
    ),
    "define-tool": (
        '(define-tool (double (n integer doc: "what to double")) "Doubles n." (* 2 n)) '
        "(double 4) ;=> 8",
    ),
    "defatom": (
        '(defatom rate (params (text string)) (instructions "Rate from 1 to 5: {{text}}") '
        "(returns integer))",
    ),
    "attempt": ("(attempt (car []) 0) ;=> 0",),
    "perform": (
        "(handle (perform ask-user \"Go on?\") ((ask-user words) resume (resume 'yes))) ;=> 'yes",
    ),
    "handle": (
        '(handle (str "it is " (now)) ((now) resume (resume 0))) ;=> "it is 0"',
        "(handle (now) ((now) _ 'stopped)) ;=> 'stopped",
    ),
    "forward": (
        "(handle (handle (random 6) ((random n) resume (forward resume random (* 2 n)))) "
        "((random n) resume (resume n))) ;=> 12",
    ),
    "try": (
        '(try (error "no cups:" 0) (catch (err) err.message)) ;=> "no cups: 0"',
        "(try (car []) (catch (err empty-list) 0) (finally nil)) ;=> 0",
    ),
    "par": ('(par (+ 1 1) "b") ;=> [2 "b"]',),
    "race": ('(race (error "lost") "won") ;=> "won"',),
    "with-timeout": ('(with-timeout 30 "in time") ;=> "in time"',),
    "with-budget": ('(with-budget {calls: 5 tokens: 20000} "cheap") ;=> "cheap"',),
}

_HIGHER: dict[str, tuple[str, ...]] = {
    "map": ("(map + [1 2] [10 20]) ;=> [11 22]", "(map (lambda (x) (* x x)) [1 2]) ;=> [1 4]"),
    "for-each": ("(for-each (lambda (x) x) [1 2]) ;=> nil",),
    "filter": ("(filter even? [1 2 4]) ;=> [2 4]",),
    "group-by": ("(group-by even? [1 2 4]) ;=> [[false [1]] [true [2 4]]]",),
    "fold": ("(fold + 0 [1 2 3]) ;=> 6", "(fold (lambda (acc x) (cons x acc)) [] [1 2]) ;=> [2 1]"),
    "reduce": ("(reduce + 0 [1 2 3]) ;=> 6",),
    "any?": ("(any? even? [1 2]) ;=> true",),
    "all?": ("(all? even? [1 2]) ;=> false",),
    "sort": ("(sort [3 1 2] <) ;=> [1 2 3]", '(sort ["b" "a"] string<?) ;=> ["a" "b"]'),
    "sort-by": (
        "(sort-by (lambda (t) t.n) [{n: 2} {n: 1}]) ;=> [{n: 1} {n: 2}]",
        "(sort-by identity [1 3 2] >) ;=> [3 2 1]",
    ),
    "apply": ("(apply + 1 [2 3]) ;=> 6",),
    "update": ("(update {n: 1} 'n (lambda (n) (+ n 1))) ;=> {n: 2}",),
    "raise": ("(try (raise 'closed) (catch (err closed) 'shut)) ;=> 'shut",),
    "error": ('(try (error "no cups:" 0) (catch (err) err.message)) ;=> "no cups: 0"',),
    "abandon": ("(handle (now) ((now) resume (begin (abandon resume) 'left))) ;=> 'left",),
    "with-permit": ("(with-permit (lambda () 1)) ;=> 1",),
    "call-task": ('(call-task summarize "A long story" style: "dry")',),
    "continue": ('(continue result "Shorter, please.")',),
    "answer": ("(answer (call-task rate text))", "(answer 3) ;=> 3"),
}

_LIBRARY: dict[str, tuple[str, ...]] = {
    "call-atomic-task": ('(call-atomic-task \'rate inputs: {text: "x"} model: "fast")',),
    "par-map": ("(par-map (lambda (x) (* x x)) [1 2 3] limit: 2) ;=> [1 4 9]",),
    "eval-plan": ('(eval-plan "(+ x 1)" inputs: {x: 1}) ;=> {status: "done" value: 2}',),
    "director-evaluator-loop": (
        '(director-evaluator-loop max_iterations: 3 initial: "a sign" '
        'director: (lambda (input i) (str input " " i)) '
        "executor: (lambda (plan i) (string-upcase plan)) "
        "evaluator: (lambda (execution plan i) (= i 2)) "
        "controller: (lambda (evaluation plan execution i) "
        "(if evaluation ['stop execution] ['continue plan]))) ;=> \"A SIGN 1 2\"",
    ),
    "iterative-loop": (
        '(iterative-loop max_iterations: 3 initial: "x" test_command: "make test" '
        "executor: (lambda (input i) (fix input)) "
        "controller: (lambda (execution result input i) "
        "(if (= result.exit_code 0) ['stop execution] ['continue result.stderr])))",
    ),
    "sequence": ('(sequence [string-trim string-upcase] " tea ") ;=> "TEA"',),
    "retry": ('(retry (lambda () "tea") times: 3 on: ["llm_error"]) ;=> "tea"',),
    "vote": ('(vote (lambda () "yes") n: 3) ;=> "yes"',),
    "hedge": ('(hedge (lambda () "tea") after: 5 n: 2) ;=> "tea"',),
    "get-context": ('(get-context query: "how errors are reported")',),
    "get_context": ('(get_context query: "how errors are reported")',),
    "system:run_script": ('(system:run_script "wc" args: ["-l"] input: text timeout: 60)',),
    "spawn-subagent": ('(spawn-subagent task: "Find the date." constraints: ["short"])',),
    "run-parallel-subagents": ('(run-parallel-subagents [{id: "a" task: "Find the date."}])',),
    "find": ("(find even? [1 2 4]) ;=> 2",),
    "find-index": ("(find-index even? [1 2 4]) ;=> 1",),
    "count": ("(count even? [1 2 4]) ;=> 2",),
    "flat-map": ("(flat-map (lambda (x) [x x]) [1 2]) ;=> [1 1 2 2]",),
    "filter-map": ("(filter-map (lambda (x) (if (even? x) (* x x) nil)) [1 2 4]) ;=> [4 16]",),
    "map-indexed": ('(map-indexed list ["a" "b"]) ;=> [[0 "a"] [1 "b"]]',),
    "partition": ("(partition even? [1 2 4]) ;=> [[2 4] [1]]",),
    "take-while": ("(take-while even? [2 4 5 6]) ;=> [2 4]",),
    "drop-while": ("(drop-while even? [2 4 5 6]) ;=> [5 6]",),
    "min-by": ("(min-by abs [-3 2]) ;=> 2",),
    "max-by": ("(max-by abs [-3 2]) ;=> -3",),
    "fold-right": ("(fold-right cons [] [1 2]) ;=> [1 2]",),
    "index-by": ('(index-by (lambda (t) t.id) [{id: "a" n: 1}]) ;=> {a: {id: "a" n: 1}}',),
    "map-values": ("(map-values abs {a: -1}) ;=> {a: 1}",),
    "map-keys": ("(map-keys string-upcase {a: 1}) ;=> {A: 1}",),
    "filter-table": ("(filter-table (lambda (k v) (> v 1)) {a: 1 b: 2}) ;=> {b: 2}",),
    "update-in": ("(update-in {a: {n: 1}} ['a 'n] (lambda (n) (+ n 1))) ;=> {a: {n: 2}}",),
    "merge-with": ("(merge-with + {a: 1} {a: 2 b: 3}) ;=> {a: 3 b: 3}",),
    "today": ('(today "Europe/Berlin")',),
}

_STATE = "(with-state 1 (lambda () (put-state (+ (get-state) 1)) (get-state))) ;=> 2"
_CELLS = "(with-cells {n: 1} (lambda () (put-cell 'n 5) (get-cell 'n))) ;=> 5"

_MODULES: dict[str, tuple[str, ...]] = {
    "with-state": (_STATE,),
    "get-state": (_STATE,),
    "put-state": (_STATE,),
    "update-state": (
        "(with-state 1 (lambda () (update-state (lambda (n) (* 2 n))) (get-state))) ;=> 2",
    ),
    "run-state": ("(run-state 1 (lambda () (put-state 2) 'done)) ;=> {value: 'done state: 2}",),
    "with-cells": (_CELLS,),
    "get-cell": (_CELLS,),
    "put-cell": (_CELLS,),
    "update-cell": (
        "(with-cells {n: 1} (lambda () (update-cell 'n (lambda (n) (* 2 n))) (get-cell 'n))) ;=> 2",
    ),
    "run-cells": (
        "(run-cells {n: 1} (lambda () (put-cell 'n 2) 'done)) ;=> {value: 'done cells: {n: 2}}",
    ),
    "run-agent": ('(run-agent program {goal: "a sum"} rounds: 5)',),
    "with-approval": ('(with-approval allow (lambda () (cashier "900")))',),
    "with-fallback": ('(with-fallback ["backup"] (lambda () (size "Bonn")))',),
    "with-log": ('(with-log (lambda () (size "Bonn")))',),
    "with-cache": ('(with-cache (lambda () (par-map size ["Bonn" "Rome" "Bonn"])))',),
    "once": ('(once "size" (lambda () (* 6 7))) ;=> 42',),
    "with-matcher": ('(with-matcher matcher (lambda () (summarize "errors")))',),
    "with-suggestions": ('(with-suggestions {calls: 8} (lambda () (solve "a riddle")))',),
    "best-of": ('(best-of (lambda () "tea") string-length n: 2) ;=> "tea"',),
    "map-tasks": ('(map-tasks string-upcase ["a" "b"]) ;=> ["A" "B"]',),
    "reduce-tasks": (
        "(reduce-tasks string-length (lambda (result acc input) (+ acc result)) 0 "
        '["a" "bc"]) ;=> 3',
    ),
    "is-task-successful?": ("(is-task-successful? (call-task rate text))",),
    "get-task-content": ("(get-task-content (call-task rate text))",),
    "get-task-parsed-content": ("(get-task-parsed-content (call-task rate text))",),
    "get-task-error-message": ("(get-task-error-message (attempt (car [])))",),
    "get-task-exit-code": ('(get-task-exit-code (system:run_script "true"))',),
}

EXAMPLES: dict[str, tuple[str, ...]] = {**_FORMS, **_HIGHER, **_LIBRARY, **_MODULES}
