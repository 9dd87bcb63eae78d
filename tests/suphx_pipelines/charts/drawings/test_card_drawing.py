from __future__ import annotations

from xml.etree import ElementTree

from suphx_pipelines.charts.drawings.card_drawing import card_symbols


def test_every_card_and_the_back_have_a_drawing_of_their_own() -> None:
    root = ElementTree.fromstring(card_symbols())
    drawings = {symbol.attrib["id"]: ElementTree.tostring(symbol).split(b">", 1)[1] for symbol in root}
    assert set(drawings) == {"card-back", *(f"card-{rank}" for rank in range(15))}
    assert len(set(drawings.values())) == 16


def test_drawings_need_no_font() -> None:
    assert "<text" not in card_symbols()
