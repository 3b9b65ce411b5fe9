; A note in, one sentence out.

(import "summarize.xml")

(define-input note doc: "the text to summarize; note=@PATH takes it from a file")

(summarize note)
