; A plan of subtasks to look at, from what a task or `subplan` gave: what was planned, and what became
; of it. Plans in plans stand in their place.

; A plan and what became of it as text, with a line for each node.
(define (subplan-tree given)
  (_check "subplan-tree" given)
  (string-join (_tree (_plans given) "") "\n"))

(define (_check name given)
  (unless (table? given)
    (raise {type: "PROGRAM_ERROR"
            reason: "wrong-type"
            message: (format "`~a` takes what a task or `subplan` gave, not ~s" name given)
            hint: "write (subplan-tree (subplan plan))"})))

(define (_plans given)
  (match given
    ({accepted: _ results: _} [given])
    ({notes: {subplans: plans}} plans)
    (_ [])))

(define (_tree plans indent)
  (_each-node plans
    (lambda (_ result)
      (bind node result.notes.node)
      (cons (str indent node.id " " node.state ": " (_line node.description))
            (_tree (_plans result) (str indent "  "))))))

; A plan and what became of it as the text of a Mermaid graph.
(define (subplan-mermaid given)
  (_check "subplan-mermaid" given)
  (bind plans (_plans given))
  (bind parents (distinct (map (lambda (plan) plan.parent) plans)))
  (bind roots (map (lambda (id) (format "  ~a[\"~a\"]" (_mark id) (_plain id))) parents))
  (string-join (append ["graph TD"] roots (_graph plans)) "\n"))

(define (_graph plans)
  (_each-node plans
    (lambda (plan result)
      (bind node result.notes.node)
      (bind name (_mark node.id))
      (bind before (map _mark (if (empty? node.after) [plan.parent] node.after)))
      (append [(format "  ~a[\"~a: ~a\"]:::~a"
                       name
                       (_plain node.description)
                       node.state
                       node.state)]
              (map (lambda (from) (format "  ~a --> ~a" from name)) before)
              (_graph (_plans result))))))

(define (_each-node plans f)
  (apply append
         (map (lambda (plan)
                (apply append (map (lambda (result) (f plan result)) plan.results)))
              plans)))

(define (_mark id)
  (fold (lambda (text sign) (string-replace text sign "_")) id ["/" "-" "." ":" " "]))

; Mermaid reads a label as HTML.
(define (_plain text)
  (fold (lambda (text pair) (string-replace text (first pair) (last pair))) (_line text)
    [["&" "#amp;"] ["\"" "#quot;"] ["<" "#lt;"] [">" "#gt;"]]))

; One line of a model's words: what a terminal would obey is written as in a program.
(define (_line text)
  (bind joined
    (fold (lambda (text sign) (string-replace text sign " ")) text ["\r\n" "\n" "\r" "\t"]))
  (bind written (format "~s" joined))
  (bind inside (substring written 1 (- (string-length written) 1)))
  (string-replace (string-replace inside "\\\"" "\"") "\\\\" "\\"))
