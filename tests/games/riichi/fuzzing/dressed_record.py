"""Sound mjlog texts in the many forms in which people have them; every one must be read to the same game.

``DRESSES`` changes the XML of a record without changing the game, ``PACKINGS`` gives its file another name or form.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable
from typing import TypeAlias

Dress: TypeAlias = Callable[[str], str]
Packing: TypeAlias = Callable[[str], tuple[str, bytes]]

ID = "2010091009gm-00a9-0000-83af2648"
ADDRESS = f"http://tenhou.net/0/?log={ID}&tw=2"
_COMMENT = f"<!-- {ADDRESS} -->"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'


def sub(pattern: str, replacement: str | Callable[[re.Match[str]], str], count: int = 0) -> Dress:
    """Return a change of all matches of ``pattern`` (the first ``count`` if given), of which there must be one."""

    def change(text: str) -> str:
        changed, num_changes = re.subn(pattern, replacement, text, count=count)
        assert num_changes, f"{pattern} is not in the record"
        return changed

    return change


def _tags(change: Callable[[str], str]) -> Dress:
    return sub(r"<[A-Za-z][^>]*>", lambda tag: change(tag[0]))


def _between(separator: str) -> Dress:
    return sub("><", f">{separator}<")


def _attributes(order: Callable[[list[str]], list[str]]) -> Dress:
    def change(tag: str) -> str:
        attributes = re.findall(r' [A-Za-z0-9]+="[^"]*"', tag)
        start = re.match(r"<[A-Za-z0-9]+", tag)
        assert start is not None
        return start[0] + "".join(order(attributes)) + ("/>" if tag.endswith("/>") else ">")

    return _tags(change)


def _moved_dora(text: str, place: str) -> str:
    """Move the kan dora that comes just before a discard."""
    pattern = r"(<N [^>]*>)(<[TUVW][0-9]+/>)(<DORA [^>]*>)(<[DEFG][0-9]+/>)"
    orders = {"after the call": r"\1\3\2\4", "after the discard": r"\1\2\4\3"}
    return sub(pattern, orders[place], count=1)(text)


def _first_discard(insert: str) -> Dress:
    return sub(r"(<D[0-9]+/>)", rf"\1{insert}", count=1)


def _come_and_go(seat: int, *, times: int = 1) -> Dress:
    leave = f'<BYE who="{seat}" />' * times
    return lambda text: sub(r"(<E[0-9]+/>)", rf'\1<UN n{seat}="X" />', 1)(_first_discard(leave)(text))


DRESSES: dict[str, Dress] = {
    "as it was written": lambda text: text,
    # in front and behind
    "a declaration": lambda text: _DECLARATION + text,
    "a declaration on a line": lambda text: f"{_DECLARATION}\r\n{text}",
    "a declaration with apostrophes": lambda text: f"<?xml version='1.0' standalone='yes'?>\n{text}",
    "a byte order mark": lambda text: "\ufeff" + text,
    "a byte order mark and a declaration": lambda text: f"\ufeff{_DECLARATION}\n{text}",
    "a comment in front": lambda text: _COMMENT + text,
    "a comment on a line in front": lambda text: f"{_COMMENT}\n{text}",
    "a declaration and a comment": lambda text: f"{_DECLARATION}\n{_COMMENT}\n{text}",
    "a byte order mark and a comment": lambda text: f"\ufeff{_COMMENT}{text}",
    "a comment of many lines": lambda text: f"<!--\n{ADDRESS}\nEast 1, <riichi> & 'more'\n-->\n{text}",
    "three comments": lambda text: f"{_COMMENT}\n<!---->\n{_COMMENT}{text}",
    "a comment behind": lambda text: f"{text}{_COMMENT}",
    "a comment in the last line": lambda text: f"{text}\n{_COMMENT}\n",
    "an instruction in front": lambda text: f'<?xml-stylesheet href="log.xsl"?>{text}',
    "an instruction behind": lambda text: f"{text}<?end?>",
    "empty lines in front": lambda text: f"\n\n  {text}",
    "a line break behind": lambda text: f"{text}\n",
    "spaces and tabs behind": lambda text: f"{text} \t \r\n",
    # between the tags
    "a line per tag": _between("\n"),
    "a line per tag, CRLF": _between("\r\n"),
    "a line per tag, CR": _between("\r"),
    "a tab between tags": _between("\t"),
    "indented tags": _between("\n    "),
    "a comment between all tags": _between("<!-- x -->"),
    "a comment after each deal": sub("<INIT", "<!-- next deal: <INIT> -->\n<INIT"),
    "an instruction between tags": sub("<INIT", "<?deal?><INIT"),
    # inside the tags
    "a line per attribute": _tags(lambda tag: tag.replace(" n", "\n n").replace('" ', '"\n')),
    "a line per attribute, CRLF": _tags(lambda tag: tag.replace('" ', '"\r\n\t')),
    "tabs between attributes": _tags(lambda tag: tag.replace('" ', '"\t')),
    "many spaces between attributes": _tags(lambda tag: tag.replace('" ', '"     ')),
    "spaces around the equals signs": _tags(lambda tag: tag.replace('="', ' = "')),
    "line breaks around the equals signs": _tags(lambda tag: tag.replace('="', '\n=\n"')),
    "apostrophes": _tags(lambda tag: tag.replace('"', "'")),
    "apostrophes in some tags": sub(r"<N [^>]*>", lambda tag: tag[0].replace('"', "'")),
    "no space before the slash": _tags(lambda tag: tag.replace(" />", "/>")),
    "spaces before the slash": _tags(lambda tag: re.sub(r"\s*/>", "   />", tag)),
    "a line break before the slash": _tags(lambda tag: re.sub(r"\s*/>", "\n/>", tag)),
    "a space before the end of the root": sub("(<mjloggm[^>]*)>", r"\1 >"),
    "a space in the end tag": sub("</mjloggm>", "</mjloggm >"),
    "end tags": sub(r"<([A-Z]+[0-9]*)([^>/]*)/>", r"<\1\2></\1>"),
    "end tags on lines": sub(r"<([A-Z]+[0-9]*)([^>/]*)/>", r"<\1\2>\n</\1>\n"),
    "end tags with comments": sub(r"<([A-Z]+[0-9]*)([^>/]*)/>", r"<\1\2><!-- - --></\1>"),
    "attributes from behind": _attributes(lambda attributes: attributes[::-1]),
    "attributes in order": _attributes(sorted),
    "unknown attributes": _attributes(lambda attributes: [*attributes, ' new="1"'] if attributes else []),
    "an unknown attribute with an entity": sub("<INIT", '<INIT note="a&amp;b"'),
    "an unknown attribute with a bracket": sub("<INIT", '<INIT note="a>b"'),
    # values
    "numbers of characters": sub('who="1"', 'who="&#49;"'),
    "hexadecimal numbers of characters": sub('who="1"', 'who="&#x31;"'),
    "lines in a value": sub('lobby="0"', 'lobby="\n0"'),
    # the head
    "no version": sub(' ver="2.3"', ""),
    "another version": sub(' ver="2.3"', ' ver="2.5"'),
    "no SHUFFLE": sub("<SHUFFLE[^>]*>", ""),
    "SHUFFLE without ref": sub(' ref=""', ""),
    "SHUFFLE without seed": sub(' seed="" ref', " ref"),
    "SHUFFLE after GO": sub("(<SHUFFLE[^>]*>)(<GO[^>]*>)", r"\2\1"),
    "an unknown seed": sub('seed=""', 'seed="pcg64,1234"'),
    "a cut seed": sub('seed=""', 'seed="mt19937ar-sha512-n288-base64,AAAA"'),
    "the seed of another game": sub('seed=""', 'seed="mt19937ar-sha512-n288,12345678,9ABCDEF0"'),
    "a damaged hexadecimal seed": sub('seed=""', 'seed="mt19937ar-sha512-n288,1234567G"'),
    "the seed of another deal": sub("<INIT", '<INIT shuffle="mt19937ar,12345678,9ABCDEF0"'),
    "a damaged seed of a deal": sub("<INIT", '<INIT shuffle="mt19937ar,"', 1),
    "an unknown seed of a deal": sub("<INIT", '<INIT shuffle="?"'),
    "GO without lobby": sub(' lobby="0"', ""),
    "GO of a tournament": sub('lobby="0"', 'lobby="C1234"'),
    "GO of fast games": sub('GO type="9"', 'GO type="73"'),
    "UN without dan and rate": sub(r' (dan|rate)="[^"]*"', ""),
    "UN with sexes": sub('( n3="[^"]*")', r'\1 sx="M,F,C,M"'),
    "no UN": sub("<UN [^>]*>", "", 1),
    "no TAIKYOKU": sub("<TAIKYOKU[^>]*>", ""),
    "only GO": sub("<(SHUFFLE|UN|TAIKYOKU) [^>]*>", ""),
    # seats that come and go
    "a seat leaves": _first_discard('<BYE who="2" />'),
    "a seat leaves twice": _first_discard('<BYE who="2" /><BYE who="2" />'),
    "all seats leave": _first_discard("".join(f'<BYE who="{seat}" />' for seat in range(4))),
    "a seat leaves before the first deal": sub("<TAIKYOKU", '<BYE who="3" /><TAIKYOKU'),
    "a seat leaves before its players are named": sub("<UN ", '<BYE who="3" /><UN ', 1),
    "a seat leaves after the end": sub("</mjloggm>", '<BYE who="1" /></mjloggm>'),
    "a seat comes back": _come_and_go(2),
    "a seat comes back after leaving twice": _come_and_go(3, times=2),
    "a seat comes back with its grade": lambda text: _come_and_go(2)(text).replace(
        '"X" />', '"X" dan="10" rate="1500" />'
    ),
    "a seat comes back between two deals": lambda text: sub("<INIT", '<UN n1="X" /><INIT', 1)(
        sub("<TAIKYOKU", '<BYE who="1" /><TAIKYOKU')(text)
    ),
    # the deal
    "owari as the first attribute": sub(r'<([A-Z]+) ([^>]*)( owari="[^"]*")', r"<\1\3 \2"),
    "owari in whole numbers": sub(r'(?<=,)(-?[0-9]+)\.[0-9](?=[,"])', r"\1"),
    "kan dora after the call": lambda text: _moved_dora(text, "after the call"),
    "kan dora after the discard": lambda text: _moved_dora(text, "after the discard"),
    "riichi sticks without scores": sub(r'(<REACH [^>]*?) ten="[^"]*"', r"\1"),
    "a step before its seat": sub(r'who="([0-3])" step="1"', r'step="1" who="\1"'),
    "an unsorted winning hand": sub(
        r'(<AGARI [^>]*hai=")([0-9,]+)"', lambda match: f'{match[1]}{",".join(match[2].split(",")[::-1])}"'
    ),
    "attributes twice": sub(r'( owari="[^"]*")', r"\1\1"),
    "a scene around each deal": sub(r"(<INIT.*?)(?=<INIT|</mjloggm)", r"<Scene>\1</Scene>"),
    "tags of the live connection": sub(r"(<INIT|</mjloggm)", r'<CHAT text="%6F%6B"/><PROF type="9"/>\1'),
}
"""Name -> change of the text of a record that has a riichi, an added or open kan and a win."""


def _tar(mode: str) -> Packing:
    def pack(text: str) -> tuple[str, bytes]:
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
            data = gzip.compress(text.encode())
            member = tarfile.TarInfo(f"logs/{ID}.mjlog")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        return ("logs.tar" if mode == "w" else "logs.tgz"), file.getvalue()

    return pack


def _zip(text: str) -> tuple[str, bytes]:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("logs/", "")
        archive.writestr("logs/readme.txt", "my games")
        archive.writestr(f"logs/{ID}&tw=2.mjlog", gzip.compress(text.encode()))
    return "logs.zip", file.getvalue()


def _named(name: str) -> Packing:
    return lambda text: (name, text.encode())


PACKINGS: dict[str, Packing] = {
    "plain": _named("game.mjlog"),
    "upper case": _named("GAME.MJLOG"),
    "xml": _named("game.xml"),
    "gzip without a suffix of its own": lambda text: ("game.mjlog", gzip.compress(text.encode())),
    "gzip": lambda text: ("game.mjlog.gz", gzip.compress(text.encode())),
    "gzip in two parts": lambda text: (
        "game.xml.gz",
        gzip.compress(text[:999].encode()) + gzip.compress(text[999:].encode()),
    ),
    "xz": lambda text: ("game.xml.xz", lzma.compress(text.encode())),
    "UTF-16": lambda text: ("game.mjlog", codecs.BOM_UTF16_LE + text.encode("utf-16-le")),
    "UTF-16, big end first": lambda text: ("game.mjlog", codecs.BOM_UTF16_BE + text.encode("utf-16-be")),
    "the id and a seat": _named(f"{ID}&tw=2.mjlog"),
    "the id alone": _named(ID),
    "the id as a text file": _named(f"{ID}.txt"),
    "the id as a page": _named(f"{ID}.html"),
    "the id in an address": _named(f"index.html?log={ID}&tw=2"),
    "the id behind a question mark": _named(f"log?{ID}"),
    "an escaped address": _named(f"http%3A%2F%2Ftenhou.net%2F0%2F%3Flog%3D{ID}%26tw%3D2"),
    "an escaped address as a file": _named(f"http%3A%2F%2Ftenhou.net%2F0%2F%3Flog%3D{ID}%26tw%3D2.mjlog"),
    "a packed page": lambda text: (f"{ID}.html.gz", gzip.compress(text.encode())),
    "a table": lambda text: ("games.tsv", f"{ID}\t\t{text}\n".encode()),
    "a table with line ends of Windows": lambda text: ("games.tsv", f"{ID}\ttw=2\t{text}\r\n".encode()),
    "a table without its middle": lambda text: ("games.tsv", f"{ID}\t{text}".encode()),
    "a table of addresses": lambda text: ("games.tsv", f"{ADDRESS}\t\t{text}\n".encode()),
    "tar": _tar("w"),
    "tar and gzip": _tar("w:gz"),
    "zip": _zip,
}
"""Name -> name and bytes of the file of a record."""
