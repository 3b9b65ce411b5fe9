; A model answers a letter, and a person reads the answer before it is sent. The run waits for the
; person, for days if need be.

(import "write-answer.xml")

(define-input letter type: file default: "letters/kettle.txt" doc: "the letter to answer")
(define-input to default: "answer.txt" doc: "the file that the answer is written to")

(define text (read-file letter))

; Here a program would send the answer. It needs --allow-write answer.txt.
(define (send answer)
  (write-file to answer)
  (str "sent: " to))

; A person says yes or no. Other words are wishes for the next draft.
(define (approve draft)
  (match (string-trim (ask-user (str draft "\n\nSend this? (yes, no, or your wishes)")))
    ("yes" (send draft))
    ((? (lambda (said) (member? said ["no" ""])) _) "not sent")
    (wishes (approve (write-answer text wishes)))))

(approve (write-answer text "none"))
