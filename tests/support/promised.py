"""The words that the language promises, by what they are: forms, operations, functions."""


def _list(names: str) -> tuple[str, ...]:
    return tuple(names.split())


FORMS = _list("""
quote quasiquote if when unless cond case and or not else => define bind lambda fn let let* letrec
begin progn loop recur match -> define-syntax syntax-rules import define-input define-effect
define-type define-tool defatom attempt handle perform forward return abandon raise error try catch
finally par par-map race with-timeout with-budget
""")
"""Special forms, their parts, and functions that a chapter shows among them."""

OPERATIONS = _list("""
model tool subtask subplan ask-user read-file write-file edit-file list-files run-script fetch
search-memory now sleep wait-until random log print progress
""")
"""What a program asks the host for (chapter 4)."""

PRIMITIVES = _list("""
+ - * / quotient remainder modulo abs min max round floor ceiling truncate exact inexact sqrt expt
number->string string->number = < > <= >= !=
str string-append string-length substring string-split string-join string-trim string-upcase
string-downcase string-contains? string-replace string=? format
list cons car first cdr rest nth last length append reverse range take drop zip member? assoc
index-of flatten distinct
get get-in get-field get-property put remove keys values merge has-key?
nil? null? empty? list? table? string? number? integer? boolean? symbol? procedure? task? failed?
json-parse json-string identity equal? eq? not
even? odd? zero? positive? negative?
string-index string-index-right string-prefix? string-suffix? starts-with? ends-with? string-count
string-lines string->list list->string string-ref string-take string-drop string-take-right
string-drop-right string-pad-left string-pad-right string-repeat string-reverse string-capitalize
string-trim-left string-trim-right string-blank? string<? string>? string<=? string>=? string-ci=?
char->integer integer->char string->symbol symbol->string
re-find re-matches re-seq re-replace re-split
parse-date format-date iso-date iso-time date-parts make-date date-add date-diff date?
parse-duration format-duration csv-parse csv-rows csv-string markdown-table as
exp ln log2 log10 sin cos tan asin acos atan
base64-encode base64-decode url-encode url-decode sha256 md5
second third take-right drop-right slice split-at chunk windows sum product mean median enumerate
frequencies delete make-list iota interpose entries from-entries zipmap select-keys put-in
vector-dot vector-cosine vector-nearest
""")
"""Functions of chapters 7 and 7a that call no other."""

CALLING = _list("""
map filter reduce fold for-each sort sort-by apply any? all? group-by update
call-atomic-task eval-plan get-context system:run_script director-evaluator-loop iterative-loop
spawn-subagent run-parallel-subagents sequence retry vote
find find-index count flat-map filter-map map-indexed partition take-while drop-while min-by max-by
fold-right index-by map-values map-keys filter-table update-in merge-with today
""")
"""Functions that call others, of the machine and of the library."""
