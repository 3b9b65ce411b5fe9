; Search by meaning: the embeddings of texts, which a model makes, and exact search among them.
;
; A vector is a list of numbers. Two vectors can be compared if the same model made them.

(define _BATCH 100)

; The embedding of a text, a vector, or the vectors of a list of texts. `model:` names the model. The
; texts of a list go to it in batches of 100, side by side.
(define (embed texts (model nil))
  (bind many (if (list? texts) texts [texts]))
  (bind parts (chunk (map _text many) _BATCH))
  (bind vectors
    (if (= (length parts) 1)
        (_vectors (first parts) model)
        (apply append (par-map (lambda (part) (_vectors part model)) parts))))
  (if (list? texts) vectors (first vectors)))

; The dot product of two vectors, which is their cosine similarity where both have the length 1.
(define (dot a b) (vector-dot a b))

; The cosine similarity of two vectors: 1 in the same direction, 0 at a right angle or where one of
; them is all zeros, -1 in the opposite direction.
(define (cosine a b) (vector-cosine a b))

; The `k` vectors of a list that are most similar to a query, which is a vector: each as `[index score]`,
; the best first. A score is a cosine similarity. Equal scores are in the order of the list.
(define (nearest k query vectors) (vector-nearest k query vectors))

(define (_text given)
  (bind said (if (string? given) given (answer given)))
  (unless (string? said)
    (raise {type: "PROGRAM_ERROR"
            reason: "wrong-type"
            message: (format "`embed` takes a text or a list of texts, not ~s" given)
            hint: "write (embed \"tea\") or (embed [\"tea\" \"cups\"] model: \"local\")"}))
  said)

(define (_vectors texts name)
  (bind payload {embed: texts})
  (bind reply (model (if (nil? name) payload (put payload "model" name))))
  (match reply
    ({embeddings: (? list? vectors)}
     (if (= (length vectors) (length texts)) vectors (_no-vectors)))
    (_ (_no-vectors))))

(define (_no-vectors)
  (raise {type: "TASK_FAILURE"
          reason: "protocol_error"
          message: "what answered `model` gave no embedding for each text"
          hint: "to `{embed: texts}` it gives {embeddings: vectors usage: nil}"
          details: {code: "bad-reply"}}))
