"""Made by lark from `grammar/sexplang.lark`; see `table_generator.py`. Not to be edited."""

# ruff: noqa: E501

# The tokens and their patterns, in the order in which they are tried.
TOKENS = r'''
LPAR \(
RPAR \)
TEXT """[\s\S]*?"""(?!")
STRING "(?!"")[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"(?![ \t\r\n]*+:)
COMMENT \#\|
DROP \#;
STRING_LABEL "(?!"")[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"[ \t\r\n]*+:
NUMBER -?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![^\x00-\x20\x7f,()\[\]{}";])
NAME [^\x00-\x20\x7f,()\[\]{}"';`~]++(?<!:)(?!['`~]|(?<=#);)
LABEL [^\x00-\x20\x7f,()\[\]{}"';`~]++(?!['`~]|(?<=#);)
SPLICE \~@
LBRACE \{
LSQB \[
QUASIQUOTE `
QUOTE '
RBRACE \}
RSQB \]
SPACE (?:[ \t\r\n,]|;[^\r\n\u2028\u2029]*+)++
UNQUOTE \~
'''

# A state, then either its way on, symbol by symbol, or what it reduces: the symbol that comes of
# it, how many values it takes, and the method of `Forms` that makes the new one.
STATES = """
0: forms=1 -> forms 0 none
1: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=7 NUMBER=8 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=12 TEXT=13 UNQUOTE=14 list=15 omission=16 quotation=17 table=18 vector=19
3: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=28 vector=29
4: entries=30 -> entries 0 none
5: operands=31 -> operands 0 none
6: forms=32 -> forms 0 none
7: -> forms 2 add
8: -> forms 2 add
9: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=33 vector=29
10: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=34 vector=29
11: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=35 vector=29
12: -> forms 2 add
13: -> forms 2 add
14: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=36 vector=29
15: -> forms 2 add
16: -> forms 2 drop
17: -> forms 2 add
18: -> forms 2 add
19: -> forms 2 add
20: -> value 1 value
21: -> value 1 value
22: -> value 1 value
23: -> value 1 value
24: -> value 1 value
25: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=37 vector=29
26: -> value 1 value
27: -> value 1 value
28: -> omission 2 omission
29: -> value 1 value
30: DROP=38 LABEL=39 RBRACE=40 SPLICE=41 STRING_LABEL=42 entry_omission=43 omission=44
31: DROP=38 LABEL=45 LBRACE=4 LPAR=5 LSQB=6 NAME=46 NUMBER=47 QUASIQUOTE=9 QUOTE=10 RPAR=48 SPLICE=11 STRING=49 STRING_LABEL=50 TEXT=51 UNQUOTE=14 entry_omission=52 list=53 omission=54 quotation=55 table=56 vector=57
32: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=7 NUMBER=8 QUASIQUOTE=9 QUOTE=10 RSQB=58 SPLICE=11 STRING=12 TEXT=13 UNQUOTE=14 list=15 omission=16 quotation=17 table=18 vector=19
33: -> quotation 2 quotation
34: -> quotation 2 quotation
35: -> quotation 2 quotation
36: -> quotation 2 quotation
37: -> value 2 second
38: DROP=3 LABEL=59 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 STRING_LABEL=60 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=28 vector=29
39: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=61 vector=29
40: -> table 3 table
41: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=62 vector=29
42: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=63 vector=29
43: -> entries 2 drop
44: -> entries 2 drop
45: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=64 vector=29
46: -> operands 2 add
47: -> operands 2 add
48: -> list 3 list
49: -> operands 2 add
50: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=65 vector=29
51: -> operands 2 add
52: -> operands 2 drop
53: -> operands 2 add
54: -> operands 2 drop
55: -> operands 2 add
56: -> operands 2 add
57: -> operands 2 add
58: -> vector 3 vector
59: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=66 vector=29
60: DROP=3 LBRACE=4 LPAR=5 LSQB=6 NAME=20 NUMBER=21 QUASIQUOTE=9 QUOTE=10 SPLICE=11 STRING=22 TEXT=23 UNQUOTE=14 list=24 omission=25 quotation=26 table=27 value=67 vector=29
61: -> entries 3 add_labelled
62: -> entries 3 add_splice
63: -> entries 3 add_labelled
64: -> operands 3 add_labelled
65: -> operands 3 add_labelled
66: -> entry_omission 3 entry_omission
67: -> entry_omission 3 entry_omission
"""
