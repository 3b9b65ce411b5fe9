; Three researchers look into a topic at the same time, each in a conversation of its own. One that
; fails is a result like any other, and the report is written from what there is.

(import "sum-up.xml")

(define-input topic default: "tea")

(define questions
  {origin: "Where does it come from?"
   market: "What is it sold for?"
   use: "How much of it is used?"})

(define (asked id question)
  {id: id
   task: question
   relevant_history: (str "All of this is about " topic ".")
   constraints: ["one sentence" "no guesses"]
   timeout: 30})

(define all (run-parallel-subagents (map asked (keys questions) (values questions))))

(define (line each)
  (str each.task_id ": " (if each.result.success each.result.content each.result.error)))

(define (tokens each)
  (+ each.result.token_usage.input each.result.token_usage.output))

(define found (filter (lambda (each) each.result.success) all.results))

(string-join (append (map line all.results)
               [(format "~a of ~a found something, with ~a tokens."
                        all.success_count
                        (length all.results)
                        (apply + (map tokens all.results)))
                ""
                (sum-up topic (map line found))])
             "\n")
