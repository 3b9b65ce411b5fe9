; A goal in, a guide out: one task plans the chapters, workers write them at the same time, and an
; editor puts together what there is.

(define-input goal default: "a short guide to keeping bees on a roof")

(define-type Chapter {title: string question: string})

(defatom plan
  (params (goal string))
  (instructions """
    Plan {{goal}}. Give two to five chapters: each has a title, and the one question that it answers.
    No two chapters answer the same question.
    """)
  (returns [Chapter])
  (validate _flaw))

(define (_flaw chapters)
  (bind titles (map (lambda (chapter) (string-downcase chapter.title)) chapters))
  (cond ((not (<= 2 (length chapters) 5))
         (format "These are ~a chapters. Give two to five." (length chapters)))
        ((< (length (distinct titles)) (length titles))
         "Two chapters have the same title. Give each its own.")))

(defatom write-chapter
  (params (goal string) (chapter Chapter))
  (model "fast")
  (instructions """
    This is a chapter of {{goal}}. Its title is {{chapter.title}}.
    Answer in three sentences at most: {{chapter.question}}
    """)
  (limits max_output_tokens: 400))

(defatom edit
  (params (goal string) (chapters [table]) (missing [string]))
  (instructions """
    Put these chapters together to {{goal}}, each under its title. Change no fact.
    {{chapters}}
    Say at the end that these chapters are to follow, if there are any: {{missing}}
    """))

(define (worked-on chapter)
  "A chapter with its text, or with nil where the worker failed or took too long."
  {title: chapter.title text: (attempt (with-timeout 60 (write-chapter goal chapter)) nil)})

(define (write-guide chapters)
  (bind [done undone] (partition (lambda (each) each.text) (par-map worked-on chapters)))
  (when (empty? done) (error "no chapter was written"))
  (edit goal done (map (lambda (each) each.title) undone)))

(with-budget {calls: 12} (write-guide (plan goal)))
