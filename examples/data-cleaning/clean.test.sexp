(define (means country) (json-string {sentence: "So it is." country: country}))
(define (table . rows)
  (string-join (cons "name,country,since,spent" rows) "\n"))

(test "a word is asked for once, and one that is right not at all"
  file: "clean.sexp"
  files: {"customers.csv": (table "a,Bavaria,2024-05-03,1"
                                  "b,Bavaria,2024-05-04,2"
                                  "c,France,2024-05-05,3")}
  script: [[(model {task: "country-of"}) (means "Germany")]]
  match: (? (lambda (text) (starts-with? text "3 of 3 rows are clean.")) _)
  requests:
    [(read-file "customers.csv")
     (model)
     (write-file
       "clean.csv"
       "name,country,since,spent\nA,Germany,2024-05-03,1\nB,Germany,2024-05-04,2\nC,France,2024-05-05,3\n")
     (write-file "aside.csv")])

(test "names, days and amounts are cleaned without a model"
  file: "clean.sexp"
  files: {"customers.csv": (table "  ADA   lovelace ,France,\"May 7, 2024\",\"EUR 1,200.50\""
                                  "bea,France,09.05.2024,80")}
  match: "2 of 2 rows are clean.\n\n"
  requests:
    [(read-file)
     (write-file
       "clean.csv"
       "name,country,since,spent\nAda Lovelace,France,2024-05-07,1200.5\nBea,France,2024-05-09,80\n")
     (write-file "aside.csv" "")])

(test "a row that cannot be cleaned is set aside as it was, with the reason"
  file: "clean.sexp"
  files: {"customers.csv": (table "a,France,soon,1" "b,France,2024-05-03,many")}
  requests:
    [(read-file)
     (write-file "clean.csv" "")
     (write-file
       "aside.csv"
       "name,country,since,spent,why\na,France,soon,1,since: no day\nb,France,2024-05-03,many,\"the value is not of type Customer: spent: expected number, got \"\"many\"\"\"\n")])

(test "a model that does not know, and one that fails, leave the word as it is"
  file: "clean.sexp"
  files: {"customers.csv": (table "a,Atlantis,2024-05-03,1" "b,Bavaria,2024-05-03,1")}
  script: [{contains: "Atlantis" reply: (means nil)} {reply: {error: "overloaded_error"}}]
  match: (? (lambda (text) (starts-with? text "0 of 2 rows are clean.")) _))

(test "a country that is not on the list is told to the model"
  file: "clean.sexp"
  files: {"customers.csv": (table "a,Bavaria,2024-05-03,1")}
  script: [{contains: "country: expected one of" reply: (means "Germany")}
           {reply: (means "Austria")}]
  match: (? (lambda (text) (starts-with? text "1 of 1 rows are clean.")) _))
