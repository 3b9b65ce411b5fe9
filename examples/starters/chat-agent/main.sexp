; A chat about the notes of a workshop. The model looks words up with a tool, and knows what was
; said before. With `message=` one message is answered, and there is no chat.

(define-input message default: "" doc: "one message; without it, messages are asked for")

(define (lines-of path) (string-lines (read-file path)))

(define-tool (look-up (word string doc: "one noun, such as tyre"))
  "The lines of the notes that have a word."
  (bind wanted (string-downcase word))
  (bind found
    (filter (lambda (line) (string-contains? (string-downcase line) wanted))
            (flat-map lines-of (list-files "notes/*.txt"))))
  (if (empty? found) "No note has this word." (string-join found "\n")))

(defatom clerk
  (params (message string))
  (system "You work at a bicycle workshop. Look a word up before you answer, and be brief.")
  (instructions "{{message}}")
  (allowed_tools look-up)
  (limits max_turns: 6 max_output_tokens: 300))

; The TaskResult of one message, with all messages so far in its notes.
(define (reply-to message past)
  (call-atomic-task clerk inputs: {message: message} history: past))

; An empty message ends the chat.
(define (chat words past)
  (match (ask-user words)
    ((? string-blank? _) "Goodbye.")
    (message
     (begin
       (bind result (reply-to message past))
       (chat (answer result) result.notes.history)))))

(if (string-blank? message)
    (chat "What can we do for you?" [])
    (answer (reply-to message [])))
