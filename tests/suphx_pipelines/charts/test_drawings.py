from __future__ import annotations

import re
from xml.etree import ElementTree

from suphx.games.riichi.table.tile import NUM_FACES, face_name
from suphx_pipelines.charts.drawings.card_drawing import card_symbols
from suphx_pipelines.charts.drawings.riichi_tiles import BACK, tile, tile_symbols, tiles


def test_every_card_and_the_back_have_a_drawing_of_their_own() -> None:
    root = ElementTree.fromstring(card_symbols())
    drawings = {symbol.attrib["id"]: ElementTree.tostring(symbol).split(b">", 1)[1] for symbol in root}
    assert set(drawings) == {"card-back", *(f"card-{rank}" for rank in range(15))}
    assert len(set(drawings.values())) == 16


def test_drawings_of_cards_need_no_font() -> None:
    assert "<text" not in card_symbols()


def test_every_face_and_the_back_have_a_drawing_of_their_own() -> None:
    root = ElementTree.fromstring(tile_symbols())
    drawings = {symbol.attrib["id"]: ElementTree.tostring(symbol).split(b">", 1)[1] for symbol in root}
    assert set(drawings) == {"tile-back", *(f"tile-{face_name(face)}" for face in range(NUM_FACES))}
    assert len(set(drawings.values())) == NUM_FACES + 1


def test_drawings_need_no_font() -> None:
    assert "<text" not in tile_symbols()


def test_circles_and_bamboo_show_their_number() -> None:
    root = ElementTree.fromstring(tile_symbols())
    shapes = {symbol.attrib["id"]: list(symbol.iter()) for symbol in root}
    for number in range(2, 10):
        assert sum(shape.tag == "circle" for shape in shapes[f"tile-{number}p"]) == 3 * number
        assert sum(shape.tag == "path" for shape in shapes[f"tile-{number}s"]) == number


def test_a_red_five_is_the_five_in_red() -> None:
    page = tile_symbols()
    for suit in "mps":
        (plain,) = re.findall(rf'id="tile-5{suit}"[^>]*>(?:<rect[^>]*/>)(.*?)</symbol>', page)
        (red,) = re.findall(rf'id="tile-0{suit}"[^>]*>(?:<rect[^>]*/>)(.*?)</symbol>', page)
        assert red == f'<g class="t-allred">{plain}</g>'


def test_a_tile_of_a_page_is_named_for_those_who_do_not_see_it() -> None:
    assert "<title>0p</title>" in tile(35)
    assert "<title>tile face down</title>" in tile(BACK)
    assert tiles([0, 1], "drawn").count('class="tile drawn"') == 2
