; An order: reserve, charge, wait up to three days for a person, ship. A person who says nothing is
; reminded once a day. Where the order ends otherwise, what was done is undone, the last thing first.

(define-input order default: "17")
(define-input sum type: integer default: 120)
(define-input days type: integer default: 3 doc: "so long a person may think about it")
(define-input day type: integer default: 86400 doc: "the seconds of a day; fewer for a try")

(define (shop verb)
  "Lets the shop do something; an error where it does not."
  (bind done (run-script "sh" ["shop.sh" verb order] nil 60))
  (unless (= done.exit_code 0)
    (raise {reason: "shop-failed" message: (str verb ": " (string-trim done.stderr))})))

(define (remind-until deadline)
  "Nil at the deadline. A reminder that fails does not end the wait."
  (loop ((next (+ (now) day)))
    (wait-until (min next deadline))
    (when (< next deadline)
      (attempt (shop "remind") nil)
      (recur (+ next day)))))

(define (approval)
  (race (ask-user (str "Ship order " order " for " sum "?") ["yes" "no"])
        (remind-until (+ (now) (* days day)))))

(define (or-undo verb f)
  "The value of f. Where it fails, the shop undoes what was done before it."
  (try (f) (catch (err) (shop verb) (raise err))))

(define (ship)
  (case (approval)
    ("yes" (shop "ship"))
    ("no" (raise {reason: "refused" message: "refused"}))
    (else (raise {reason: "late" message: (str "no answer in " days " days")}))))

(define (charge)
  (retry (lambda () (shop "charge")) times: 3 on: ["shop-failed"] backoff: 1))

(define (perform-order)
  (shop "reserve")
  (or-undo "release" (lambda () (charge) (or-undo "refund" ship)))
  "shipped")

(try (perform-order) (catch (err) (str "not shipped: " err.message)))
