; One model writes, another one judges, until the draft is good or the drafts are used up.

(import std/evaluate)
(import "draft.xml")
(import "judge.xml")

(define-input topic default: "The lift is out of order until Friday." doc: "what the notice says")
(define-input drafts type: integer default: 3 doc: "how many drafts there are at most")

; What is wrong with a draft; nil if nothing is. What can be measured is not left to a model.
(define (flaw-of text)
  (if (> (string-length text) 300)
      "It is too long: 300 characters are enough."
      (match (judge topic text)
        ("good" nil)
        (verdict (str "It is " verdict ".")))))

(define (flaw-told text)
  (bind flaw (flaw-of text))
  (when flaw (log "info" (str "not good yet: " flaw)))
  flaw)

(define (write-draft feedback)
  (draft topic (or feedback "nothing, it is the first one")))

(refine write-draft flaw-told times: drafts)
