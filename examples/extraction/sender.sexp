; The smallest extraction: who wrote a letter, as a table with two fields.

(define-input letter default: "We look forward to your visit.\nYours, Ada Lovelace, Bath")

(define-type Sender {name: string town: string})

(defatom sender
  (params (letter string))
  (instructions "{{letter}}\n\nWho signed this letter, and from which town?")
  (returns Sender))

(sender letter)
