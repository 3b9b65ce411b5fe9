"""The worst shapes of replies: text that is to be JSON, XML or a CONTINUATION."""

from collections.abc import Callable
from contextlib import suppress

from benchmarks.growth import Routine
from sexplang.tasks.requests.continuation import continuation
from sexplang.templates import read_reply
from sexplang.templates.reply.json_repair import GaveUp, Mender
from sexplang.templates.reply.reply import find_fences
from sexplang.terms.json.json_reader import NotJson
from sexplang.terms.json.strict import read_json
from sexplang.terms.template import OutputFormat
from sexplang.terms.texts.thoughts import ahead, is_open

Make = Callable[[int], str]

ARRAY = OutputFormat("json", "array")

MENDED: dict[str, Make] = {
    "escaped quotes, no end": lambda n: '["' + '\\"' * n,
    "escaped quotes, single": lambda n: "['" + '\\"' * n + "']",
    "items": lambda n: "[" + "1," * n + "]",
    "strings in single quotes": lambda n: "[" + "'a'," * n + "]",
    "bare keys": lambda n: "{" + "".join(f"k{at}:1," for at in range(n)) + "}",
    "one key": lambda n: "{" + "k:1," * n + "}",
    "comments": lambda n: "[" + "//a\n" * n + "1,]",
    "open comments": lambda n: "[1," + "/*" * n,
    "white": lambda n: "[1," + " " * n + "x]",
    "tables": lambda n: "[" + "{a:1}" * n + "]",
    "digits": lambda n: "[" + "1" * n + ",]",
    "raw breaks": lambda n: '["' + "\n" * n + '",]',
}

JSON: dict[str, Make] = {
    **MENDED,
    "lone quotes": lambda n: "[" + '"' * (n | 1),
    "quotes and white": lambda n: "[1] " + '" ' * n,
    "objects, several": lambda n: "{}" * n,
    "open brackets": lambda n: "[" * n,
    "brackets in strings": lambda n: '["' + "[" * n + '"] x',
    "fences": lambda n: "```\n1\n```\n" * n,
    "fences of growing size": lambda n: "".join(
        "`" * size + "a\n" for size in range(3, 3 + int((2 * n) ** 0.5))
    ),
    "fence and white": lambda n: "```" + " " * n + "!\n[1]",
    "thoughts": lambda n: "<think></think>" * n + "[1]",
    "open thoughts": lambda n: "[1]" + "<think>" * n,
    "key twice": lambda n: "{" + '"a":[1],' * n + '"a":[1]}',
    "floats": lambda n: "[" + "1.5," * n + "1.5]",
    "long floats": lambda n: "[" + "0.12345678901234567," * n + "1.5]",
    "tables, whole": lambda n: "[" + '{"a":1},' * n + "1]",
}

REQUESTED: dict[str, Make] = {
    "fence and letters": lambda n: "```" + "a" * n + " subtask {",
    "fence and white": lambda n: "``` {subtask" + " " * n + "x",
    "open braces": lambda n: "subtask " + "{" * n,
    "objects": lambda n: "subtask " + "{} " * n,
    "status and white": lambda n: "subtask { status" + " " * n + "x",
    "statuses": lambda n: "{ subtask " + 'status:"' * n,
    "keys": lambda n: '{"subtask":1' + "".join(f',"k{at}":1' for at in range(n)) + "}",
    "keys and one twice": lambda n: (
        '{"subtask":1' + "".join(f',"k{at}":1' for at in range(n)) + f',"k{n - 1}":1' + "}"
    ),
    "words, then white": lambda n: "subtask {} " + " " * n + "x",
    "escaped quotes": lambda n: '{"subtask": "' + '\\"' * n,
}

LIST = OutputFormat(
    "xml",
    """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="list">
    <xs:complexType><xs:sequence>
      <xs:element name="said" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
        <xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="by"/></xs:extension>
        </xs:simpleContent></xs:complexType></xs:element>
      <xs:element name="is" type="xs:boolean" minOccurs="0" maxOccurs="unbounded"/>
      <xs:element name="mixed" minOccurs="0"><xs:complexType mixed="true"><xs:choice
        minOccurs="0" maxOccurs="unbounded"><xs:element name="b" type="xs:string"/></xs:choice>
        </xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element></xs:schema>""",
)

XML: dict[str, Make] = {
    "elements": lambda n: f"<list>{'<said>x</said>' * n}</list>",
    "names in another case": lambda n: f"<list>{'<Said>x</sAID>' * n}</list>",
    "values in another case": lambda n: f"<list>{'<is> True </is>' * n}</list>",
    "attributes": lambda n: f"<list>{'<said By=`&`/>' * n}</list>".replace("`", '"'),
    "bare <": lambda n: f"<list><said>{'< ' * 3 * n}</said></list>",
    "bare &": lambda n: f"<list><said>{'& ' * 3 * n}</said></list>",
    "bare & in letters": lambda n: f"<list><said>{'&abcdefghij' * 3 * n}</said></list>",
    "entities": lambda n: f"<list><said>{'&eacute;' * 3 * n}</said></list>",
    "tags of no schema": lambda n: (
        f"<list><said>{''.join(f'<z{at}></z{at}>' for at in range(n))}</said></list>"
    ),
    "CDATA": lambda n: f"<list><said>{'<![CDATA[<]]>' * n}&</said></list>",
    "marks in mixed content": lambda n: f"<list><mixed>{'a < & b' * n}</mixed></list>",
    "elements in mixed content": lambda n: f"<list><mixed>{'<b/>< ' * n}</mixed></list>",
    "a long name": lambda n: f"<list><said><{'z' * 100 * n}</said></list>",
    "a long value": lambda n: f"<list><is>{'true' * 25 * n}</is>&</list>",
    "white": lambda n: f"<list><said><{' ' * 100 * n}</said></list>",
    "a long attribute": lambda n: f"<list><said by='{'x>' * 50 * n}&'/></list>",
    "open quotes": lambda n: "<list by=" + "\"'" * 50 * n,
    "open comments": lambda n: "<list>" + "<!--" * 3 * n,
    "open CDATA": lambda n: "<list><said>" + "<![CDATA[" * 3 * n,
    "document types": lambda n: "<!DOCTYPE " * 3 * n + "<list>&</list>",
    "levels": lambda n: "<list>" * 3 * n,
    "roots": lambda n: "<list/>" * n,
    "fences": lambda n: "```\n1\n```\n" * n + "<list>&</list>",
    "thoughts": lambda n: "<think></think>" * n + "<LIST/>",
    "open thoughts": lambda n: "<LIST/>" + "<think>" * 3 * n,
}


def _read(text: str) -> None:
    read_reply(text, ARRAY)


def _read_xml(text: str) -> None:
    read_reply(text, LIST)


def _mended(text: str) -> int:
    mender = Mender(text, 0, lambda _: None, words=True)
    with suppress(NotJson, GaveUp):
        mender.value()
    return mender.steps


def _asked(text: str) -> None:
    continuation(text, {}, OutputFormat())


def _keys(text: str) -> None:
    read_json(text, [])


def _fenced(text: str) -> None:
    list(find_fences(text))


def _thought(text: str) -> None:
    ahead(text)
    is_open(text)


ROUTINES = (
    *(Routine(f"JSON: {name}", make, _read) for name, make in JSON.items()),
    *(Routine(f"XML: {name}", make, _read_xml, 1_200) for name, make in XML.items()),
    *(Routine(f"mending: {name}", make, _mended, 1_000) for name, make in MENDED.items()),
    *(Routine(f"CONTINUATION: {name}", make, _asked) for name, make in REQUESTED.items()),
    Routine("keys of an object, one twice", REQUESTED["keys and one twice"], _keys),
    *(
        Routine(f"fences: {name}", JSON[name], _fenced, 40_000)
        for name in ("fences", "fences of growing size", "fence and white")
    ),
    *(
        Routine(f"thoughts: {name}", JSON[name], _thought, 40_000)
        for name in ("thoughts", "open thoughts")
    ),
)
