(define sales
  "date,product,amount\n01.03.2024,Tea,\"1,000.10\"\n29.02.2024,Tea,0.20\n23.02.2024,Cups,9\n01.02.2024,Cups,9\n")

(define (says-friday text)
  (string-contains? text "until Friday, March 1, 2024"))

(test "the week ends on the day that is given; February has 29 days"
  file: "digest.sexp"
  inputs: {sales: "sales.csv" until: "2024-03-01"}
  files: {"sales.csv": sales}
  script: [{task: "comment" reply: "Tea!"}]
  expect: """
    # Sales until Friday, March 1, 2024

    | Product | This week | Week before |
    | --- | --- | --- |
    | Tea | 1,000.30 | 0.00 |
    | All | 1,000.30 | 9.00 |

    Tea!""")

(test "today, where no day is given"
  file: "digest.sexp"
  files: {"sales.csv": sales}
  script: [[(read-file) sales] [(now) 1709290000] {reply: "Tea!"}]
  match: (? says-friday _))

(test "an amount that is no number is told by its path"
  file: "digest.sexp"
  files: {"sales.csv": "date,product,amount\n01.03.2024,Tea,much\n"}
  error: ["type-misfit" "amount: expected number"])

(test "a date that is none"
  file: "digest.sexp"
  files: {"sales.csv": "date,product,amount\n30.02.2024,Tea,1\n"}
  error: "bad-date")
