; What the shop says; a request of the program that no line answers fails the test.
(define done {exit_code: 0 stdout: "" stderr: ""})
(define no-bank {exit_code: 1 stdout: "" stderr: "the bank is away\n"})

(test "the third charge succeeds, and a person says yes"
  file: "order.sexp"
  script: [[(run-script "sh" ["shop.sh" "reserve" "17"]) done]
           [(run-script "sh" ["shop.sh" "charge" "17"]) no-bank]
           [(sleep 1)]
           [(run-script "sh" ["shop.sh" "charge" "17"]) no-bank]
           [(sleep 2)]
           [(run-script "sh" ["shop.sh" "charge" "17"]) done]
           [(now) 0]
           [(now) 0]
           [(ask-user "Ship order 17 for 120?") "yes"]
           [(run-script "sh" ["shop.sh" "ship" "17"]) done]]
  expect: "shipped")

(test "no bank: the cups are released, and no person is asked"
  file: "order.sexp"
  script: [[(run-script "sh" [_ "reserve" _]) done]
           [(run-script "sh" [_ "charge" _]) no-bank]
           [(sleep 1)]
           [(run-script "sh" [_ "charge" _]) no-bank]
           [(sleep 2)]
           [(run-script "sh" [_ "charge" _]) no-bank]
           [(run-script "sh" [_ "release" _]) done]]
  expect: "not shipped: charge: the bank is away")

(test "a person says no after a reminder: refund, then release"
  file: "order.sexp"
  script: [[(run-script "sh" [_ "reserve" _]) done]
           [(run-script "sh" [_ "charge" _]) done]
           [(now) 0]
           [(now) 0]
           [(wait-until 86400)]
           [(run-script "sh" [_ "remind" _]) done]
           [(ask-user) "no"]
           [(run-script "sh" [_ "refund" _]) done]
           [(run-script "sh" [_ "release" _]) done]]
  expect: "not shipped: refused")

(test "nobody answers in three days: two reminders, one of which fails"
  file: "order.sexp"
  script: [[(run-script "sh" [_ "reserve" _]) done]
           [(run-script "sh" [_ "charge" _]) done]
           [(now) 0]
           [(now) 0]
           [(wait-until 86400)]
           [(run-script "sh" [_ "remind" _]) (error "no mail")]
           [(wait-until 172800)]
           [(run-script "sh" [_ "remind" _]) done]
           [(wait-until 259200)]
           [(run-script "sh" [_ "refund" _]) done]
           [(run-script "sh" [_ "release" _]) done]]
  expect: "not shipped: no answer in 3 days")
