; A program that a model wrote, checked and run with the rights that it is given.

(define (eval-plan text (inputs {}) (allow []) (budget nil))
  (run-plan text inputs allow budget))
