; The game of 24: join four numbers, two at a time, until 24 is left. A model proposes steps. The
; program plays as if every choice was right; a handler tries the choices, in one of three orders.

(define-input numbers type: [number] default: [4 5 6 10])
(define-input search default: "first" choices: ["first" "best" "all"] doc: "in which order")

(define-type Step {left: number op: (one-of "+" "-" "*" "/") right: number})

(define-effect (choose options) "One of the options. Which one is the business of a handler.")

(defatom propose
  (params (numbers [number]))
  (instructions """
    These numbers are to become 24: {{numbers}}
    A step takes two of them, joins them by + - * or /, and puts the result in their place.
    Give the three best steps.
    """)
  (returns [Step]))

(defatom rate
  (params (numbers [number]))
  (model "judge")
  (instructions "Can 24 be made of {{numbers}}, each number once, with + - * and /?")
  (returns (one-of "sure" "likely" "impossible")))

; The game

(define (without numbers n)
  "The numbers with one n less; nil if there is none."
  (bind place (index-of numbers n))
  (when place (append (take numbers place) (drop numbers (+ place 1)))))

(define (result {left: a op: op right: b})
  (case op
    ("+" (+ a b))
    ("-" (- a b))
    ("*" (* a b))
    (else (unless (= b 0) (/ a b)))))

(define (position numbers step)
  "What is left after a step, and how it is written; nil if the step cannot be taken."
  (bind others (without (or (without numbers step.left) []) step.right))
  (bind value (result step))
  (when (and others value)
    {numbers: (append others [value])
     text: (format "~a ~a ~a = ~a" step.left step.op step.right value)}))

(define (play numbers)
  "The steps that make 24 of the numbers."
  (if (= (length numbers) 1)
      (if (< (abs (- (first numbers) 24)) 0.000001) [] (choose []))
      (begin
        (bind positions (filter-map (lambda (step) (position numbers step)) (propose numbers)))
        (bind next (choose positions))
        (cons next.text (play next.numbers)))))

; The searches: `resume` goes on with one choice, to the end of the game, and may be called again

(define (first-way resume options)
  (when (not (empty? options))
    (or (resume (first options)) (first-way resume (rest options)))))

(define (best-first options)
  (bind rated (par-map (lambda (option) [(rate option.numbers) option]) options))
  (define (those word)
    (map second (filter (lambda (each) (equal? (first each) word)) rated)))
  (append (those "sure") (those "likely")))

(define (ways numbers search)
  "The ways that a search finds."
  (handle (play numbers)
    ((choose options) resume
      (case search
        ("first" (first-way resume options))
        ("best" (first-way resume (best-first options)))
        ("all" (apply append (par-map resume options)))))
    (return steps [steps])))

(match (with-budget {calls: 60} (ways numbers search))
  ((? empty? _) "The model found no way.")
  (found (string-join (map (lambda (steps) (string-join steps ", ")) found) "\n")))
