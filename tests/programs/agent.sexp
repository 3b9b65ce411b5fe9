; A model that looks into files, asks a function of Python for prices and keeps notes in a file.

(define-input question)

(define (save-note title text)
  "Keeps a note for the person who asked."
  (write-file (str "notes/" title ".md") text))

(defatom agent
  (params (question string))
  (instructions "{{question}}")
  (allowed_tools list_files read_file price (in-order save-note))
  (limits max_turns: 12))

(agent question)
