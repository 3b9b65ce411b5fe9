; A question about a database: the model writes SQL, SQLite judges it before it is run.

(define-input question default: "Which city sold most?")
(define-input database type: file default: "shop.db")

(define (_sqlite . words)
  (run-script "sqlite3" (append ["-readonly" "-safe" database] words)))

(define tables (get (_sqlite ".schema") "stdout"))

(defatom write-query
  (params (question string) (tables string))
  (system "You write one SELECT for SQLite. Name only tables and columns that there are.")
  (instructions "{{tables}}\n\n{{question}}")
  (returns {sql: string why: string})
  (validate _flaw))

(define (_flaw query)
  (if (re-find "(?i)^\\s*select\\b" query.sql)
      (match (_sqlite (str "explain query plan " query.sql))
        ({exit_code: 0} nil)
        ({stderr: words} (str "SQLite says: " words)))
      "Write one SELECT."))

(define query (write-query question tables))
(str query.sql "\n\n" (get (_sqlite "-markdown" query.sql) "stdout"))
