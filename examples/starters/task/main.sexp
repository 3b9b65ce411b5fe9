; A message in, its kind out.

(import "sort-message.xml")

(define-input message
  default: "Water is dripping from the ceiling of the kitchen."
  doc: "the message; message=@PATH takes it from a file")

(define sorting (sort-message message))
(if sorting.urgent (str "urgent " sorting.kind) sorting.kind)
