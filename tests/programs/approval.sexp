; A letter that a person approves, or sends back with a remark, before it goes out.

(define-input order)

(defatom draft
  (params (order string) (remark string default: ""))
  (instructions "Write a letter about this order: {{order}} {{remark}}"))

(define-effect (send-letter text) "Sends a letter.")

(define (approved letter)
  (match (ask-user (str "Send this?\n" letter) ["yes" "no" "change"])
    ("yes" (send-letter letter) "sent")
    ("no" "dropped")
    (_ (approved (draft order (ask-user "What has to change?" nil))))))

(approved (draft order))
