(define (done out) {stdout: out stderr: "" exit_code: 0})
(define (fails words) {stdout: "" stderr: words exit_code: 1})
(define (sql text) (json-string {sql: text why: "as asked"}))

(test "what SQLite does not understand is told to the model"
  file: "query.sexp"
  inputs: {question: "Which city sold most?"}
  script: [[(run-script "sqlite3" ["-readonly" "-safe" "shop.db" ".schema"])
            (done "CREATE TABLE sale (city, cups);")]
           [(model {task: "write-query"}) (sql "SELECT town FROM sale")]
           [(run-script "sqlite3" [_ _ _ "explain query plan SELECT town FROM sale"])
            (fails "no such column: town")]
           {contains: "SQLite says: no such column: town" reply: (sql "SELECT city FROM sale")}
           [(run-script "sqlite3" [_ _ _ "explain query plan SELECT city FROM sale"]) (done "")]
           [(run-script "sqlite3" [_ _ _ "-markdown" "SELECT city FROM sale"]) (done "| Bonn |")]]
  expect: "SELECT city FROM sale\n\n| Bonn |")

(test "what changes the database is not even explained"
  file: "query.sexp"
  script: [[(run-script "sqlite3" [_ _ _ ".schema"]) (done "")] {reply: (sql "DROP TABLE sale")}]
  error: ["output_format_failure" "Write one SELECT."])
