; What the index of a project knows for a query. No model is asked, unless there is a matcher.
;
; A matcher is a function `(matcher input candidates)`. `input` is the query, a table of
; ContextGenerationInput; `candidates` is a list of `{path metadata}`. It gives
; `{summary matches: [{path relevance_score} …]}`, the list alone, or a text or a task's result
; that holds either as JSON.

(define _SHARD 4000)
(define _SHARDS 8)

; A search reads at most this many entries of the index; a part of them fits into the shards.
(define _CANDIDATES 1000)

; The files that an index knows and that a query is about: `{summary matches error}`. A `matcher:`, a
; task or a function, judges them; without one it is the program's task for associative matching, if
; it has one, and else the words that they share. `matching_strategy:` is "content" or "metadata",
; `limit:` the most matches. With `vector:`, an embedding of the query, files are ranked by theirs, too.
(define (get-context (query nil) (template_description nil) (template_type nil)
          (template_subtype nil) (inputs nil) (inherited_context nil) (previous_outputs nil)
          (matching_strategy nil) (limit nil) (matcher nil) (vector nil))
  (bind input
    (_given {query: query
             template_description: template_description
             template_type: template_type
             template_subtype: template_subtype
             inputs: (_table inputs)
             inherited_context: inherited_context
             previous_outputs: previous_outputs
             matching_strategy: (_strategy matching_strategy)
             limit: limit
             vector: vector}))
  (bind chosen (if (nil? matcher) (task-of "associative_matching") matcher))
  (when chosen (_check-matcher chosen))
  (if chosen (match-memory chosen input) (search-memory input)))

; Lets a matcher find the files that tasks in `f`, a function without parameters, get as context: it
; answers their `search-memory`.
(define (with-matcher matcher f)
  (_check-matcher matcher)
  (handle (f)
    ((search-memory query) resume (resume (match-memory matcher query)))))

; The files that a matcher finds fitting to a query, a text or a table of fields: `{summary matches
; error}`. It is asked about candidates in shards, side by side; a shard that fails does not spoil the
; others.
(define (match-memory matcher query (token_size_per_shard _SHARD) (max_shards _SHARDS))
  (_check-matcher matcher)
  (_check-bound "token_size_per_shard" token_size_per_shard _SHARD)
  (_check-bound "max_shards" max_shards _SHARDS)
  (bind input (if (table? query) query {query: query}))
  (bind wanted (remove (merge {query: (str input.template_description)} input) "vector"))
  (bind most input.limit)
  (bind fits (or (nil? most) (_whole? most _CANDIDATES)))
  ; What is wrong with a limit is told as the search tells it.
  (bind found
    (search-memory (if fits
                       (merge input {limit: _CANDIDATES include_unmatched: true})
                       input)))
  (bind packed (_packed (or found.matches []) token_size_per_shard max_shards))
  (if (or found.error (empty? found.matches))
      found
      (_merged input
               found.matches
               (_left-out found.matches packed)
               (par-map (lambda (shard) (_asked matcher wanted shard)) (take packed _SHARDS)))))

; -- Shards ---------------------------------------------------------------------------------------

; The best first, each into the shard with the least in it; what fits into none is left out.
(define (_packed candidates size most)
  (fold (lambda (shards candidate) (_with shards candidate size most)) [] candidates))

(define (_with shards candidate size most)
  (bind cost (* 0.25 (string-length (str candidate.source_path candidate.content))))
  (bind ranked (sort-by (lambda (shard) shard.load) shards))
  (bind load (if (empty? ranked) size (get-in ranked [0 "load"])))
  (bind row {path: candidate.source_path metadata: candidate.content})
  (cond ((<= (+ load cost) size)
         (cons {load: (+ load cost) rows: (cons row (get-in ranked [0 "rows"]))} (rest ranked)))
        ((and (<= cost size) (< (length shards) most))
         (cons {load: cost rows: [row]} ranked))
        (else shards)))

; What no matcher is shown: what fits into no shard, and what is beyond the bound of a search.
(define (_left-out candidates shards)
  (bind all (length candidates))
  (bind shown (fold (lambda (sum shard) (+ sum (length shard.rows))) 0 shards))
  (append (if (< shown all)
              [(format "~a of ~a files were not judged: the shards had no room" (- all shown) all)]
              [])
          (if (< all _CANDIDATES)
              []
              [(format "no more than ~a files of the index were looked at" _CANDIDATES)])))

; What fails is tried once more, and outside of what failed.
(define (_asked matcher input shard)
  (define (ask)
    (try (_reply (matcher input (reverse shard.rows)))
      (catch (err) {failed: err})))
  (bind once (ask))
  (if (has-key? once "failed") (ask) once))

; -- Replies --------------------------------------------------------------------------------------

(define (_reply given)
  (match given
    ((? list? rows) {summary: "" rows: rows})
    ({matches: (? list? rows)} {summary: (str (get given "summary")) rows: rows})
    ({status: _ content: _} (_reply (answer given)))
    (_ (_reply-in given))))

(define (_reply-in text)
  (match (try (json-parse (_unfenced text)) (catch (_) nil))
    ((? list? rows) {summary: "" rows: rows})
    ({matches: (? list? rows)} (_reply {matches: rows}))
    (_
     (raise {type: "TASK_FAILURE"
             reason: "context_matching_failure"
             message: (format "the matcher gave ~s" (_short (str text)))
             hint: "it gives {\"matches\": [{\"path\": \"a.py\", \"relevance_score\": 0.9}]}"}))))

(define (_short text) (substring text 0 (min 200 (string-length text))))

; Models like to put a fence around JSON.
(define (_unfenced text)
  (bind lines (string-split (str text) "\n"))
  (string-join (filter (lambda (line) (not (string-contains? line "```"))) lines) "\n"))

(define (_merged input candidates left-out replies)
  (bind good (filter (lambda (reply) (has-key? reply "rows")) replies))
  (bind bad (filter (lambda (reply) (has-key? reply "failed")) replies))
  (if (and (empty? good) (not (empty? bad)))
      {summary: "" matches: [] error: (_failure (get (first bad) "failed"))}
      {summary: (_summary good bad left-out)
       matches: (take (_ranked candidates (apply append (map (lambda (reply) reply.rows) good)))
                      (or input.limit (if (equal? input.matching_strategy "metadata") 5 10)))
       error: nil}))

(define (_failure err)
  (get-in (attempt (raise {type: "TASK_FAILURE"
                           reason: "context_matching_failure"
                           message: (str "nothing could be matched: " err.message)
                           details: {error: err}
                           hint: err.hint
                           span: nil}))
          ["notes" "error"]))

(define (_summary good bad left-out)
  (bind said (map (lambda (reply) reply.summary) good))
  (bind failed
    (map (lambda (reply)
           (str "a part of the files could not be matched: " reply.failed.message))
         bad))
  (bind lines (filter (lambda (line) (not (empty? line))) (append said failed left-out)))
  (string-join (distinct lines) "\n"))

; Each path once, with its best score; what is not in the index was made up.
(define (_ranked candidates rows)
  (bind known (fold (lambda (t each) (put t each.source_path each)) {} candidates))
  (bind scored (filter (lambda (row) (has-key? known row.path)) (map _scored rows)))
  (bind sorted (sort-by (lambda (row) (- row.score)) (sort-by (lambda (row) row.path) scored)))
  (bind paths (distinct (map (lambda (row) row.path) sorted)))
  (bind best (fold (lambda (t row) (put t row.path row.score)) {} (reverse sorted)))
  (map (lambda (path) (merge (get known path) {relevance_score: (get best path)})) paths))

(define (_scored row)
  (match row
    ((? string? path) {path: path score: 0.5})
    ((? table? fields)
     {path: (str (or fields.path fields.source_path fields.id))
      score: (_clamped (or fields.relevance_score fields.score))})
    (_ {path: "" score: 0})))

; A number in a text is one. What is no number of anything (`0/0`) is not above 0.
(define (_clamped given)
  (bind score
    (if (string? given)
        (try (string->number (string-trim given)) (catch (_) nil))
        given))
  (cond ((not (number? score)) 0.5)
        ((> score 0) (min 1 score))
        (else 0)))

; -- What is asked --------------------------------------------------------------------------------

(define (_given fields)
  (fold (lambda (kept key)
          (bind value (get fields key))
          (if (nil? value) kept (put kept key value)))
        {}
        (keys fields)))

; A quoted list of pairs is a table, too.
(define (_table inputs)
  (if (and (list? inputs) (all? _pair? inputs))
      (fold _with-input {} inputs)
      inputs))

(define (_pair? item)
  (match item
    ([name _] (or (symbol? name) (string? name)))
    (_ false)))

(define (_with-input table pair)
  (bind name (str (first pair)))
  (when (has-key? table name)
    (_refuse (format "the input `~a` is given twice" name) "give it once"))
  (put table name (last pair)))

(define (_strategy given)
  (cond ((nil? given) nil)
        ((member? given ["content" 'content]) "content")
        ((member? given ["metadata" 'metadata]) "metadata")
        (else
         (_refuse "`matching_strategy:` is \"content\" or \"metadata\""
                  "leave it out for \"content\""))))

(define (_check-matcher matcher)
  (unless (procedure? matcher)
    (_refuse "a matcher is a task or a function"
             "write (lambda (input candidates) …); get-context takes matcher: false for none")))

(define (_check-bound label value most)
  (unless (_whole? value most)
    (_refuse (format "`~a:` is an integer from 1 to ~a, not ~s" label most value)
             (format "leave it out for ~a" most))))

; 2.0 is no such number.
(define (_whole? value most)
  (and (integer? value) (<= 1 value most) (not (string-contains? (str value) "."))))

(define (_refuse message hint)
  (raise {type: "PROGRAM_ERROR" reason: "wrong-type" message: message hint: hint}))

; The documents' own spelling of `get-context`.
(define get_context get-context)
