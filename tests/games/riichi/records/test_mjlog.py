from __future__ import annotations

import base64
import hashlib
import lzma
import random
import re
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suphx.games.riichi.records.game_log import NO_SEED, move
from suphx.games.riichi.records.mjlog import (
    FROM_THE_MIDDLE,
    HEX_SEED_PREFIX,
    KYOKU_SEED_PREFIX,
    NO_RED,
    OTHER_SEED,
    SEED_PREFIX,
    UNREADABLE_SEED,
    Deal,
    SeededWalls,
    kyoku_deal,
    parse_mjlog,
    tenhou_deals,
)
from suphx.games.riichi.records.mjlog_writer import write_mjlog
from suphx.games.riichi.records.mjlog_xml import (
    MAX_TAGS,
    changes_in,
    name_in,
    number_in,
    numbers_in,
    points_in,
    ratings_in,
    read_attributes,
    read_tokens,
)
from suphx.games.riichi.records.quarantine import (
    CHIPS,
    INCOMPLETE,
    NO_END,
    NO_RED_FIVES,
    THREE_PLAYERS,
    ForeignRecord,
    RecordError,
)
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.table import DORA_POSITIONS, LEAVE, RETURN, TSUMOGIRI, WIN_RESULT
from tests.games.riichi.builders.games import drawn_game, random_game, shuffled_wall


def test_tags_fall_into_draws_discards_and_named_tags() -> None:
    tokens = read_tokens(
        '\ufeff<?xml version="1.0"?>\n<mjloggm ver="2.3"><T12/> <D135/><GO type="9" lobby="0" /></mjloggm>\n'
    )
    assert [token[1:] for token in tokens] == [
        ("", "", "mjloggm", ' ver="2.3"', ""),
        ("T", "12", "", "", "/"),
        ("D", "135", "", "", "/"),
        ("", "", "GO", ' type="9" lobby="0"', "/"),
        ("", "", "/mjloggm", "", ""),
    ]


def test_the_first_piece_that_is_no_tag_is_named_with_its_place() -> None:
    with pytest.raises(RecordError, match="'oops' is not a tag") as caught:
        read_tokens("<r><T1/><T2/>oops<T1/></r>")
    assert caught.value.position == "character 13"


def test_attributes_are_found_by_name_and_must_be_single() -> None:
    assert read_attributes("N", ' who="1" m="42538"') == {"who": "1", "m": "42538"}
    assert read_attributes("N", ' who="1" m="42538" who="1"') == {"who": "1", "m": "42538"}
    with pytest.raises(ValueError, match="twice"):
        read_attributes("N", ' who="1" who="2"')


def test_numbers_are_checked_for_count_and_range() -> None:
    assert numbers_in({"a": "1,-2,3"}, "a", -2, 3, None) == [1, -2, 3]
    assert number_in({"a": "7"}, "a", 0, 7) == 7
    with pytest.raises(ValueError, match="outside 0 to 3"):
        number_in({"who": "4"}, "who", 0, 3)
    with pytest.raises(ValueError, match="3 numbers instead of 2"):
        numbers_in({"a": "1,2,3"}, "a", 0, 9, 2)
    with pytest.raises(ValueError, match="b is missing"):
        numbers_in({"a": "1"}, "b", 0, 9, 1)


@pytest.mark.parametrize("text", ["", " 1", "1_0", "１", "+1", "1.5", "0x1", "1,,2", "1" * 5000])
def test_only_plain_whole_numbers_count(text: str) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        number_in({"a": text}, "a", 0, 10**12)


def test_hundreds_become_points() -> None:
    assert points_in({"ten": "250,251,-3,0"}, "ten") == [25_000, 25_100, -300, 0]
    assert changes_in({"sc": "250,-20,250,60,250,-20,250,-20"}) == [-2_000, 6_000, -2_000, -2_000]


def test_names_and_ratings() -> None:
    assert name_in("%E2%93%9D%53uphx") == "ⓝSuphx"
    assert ratings_in("1500,1500.25,2,3") == (1500.0, 1500.25, 2.0, 3.0)
    for text in ("1,2,3", "1,2,3,nan", "1,2,3,1e999", "a,b,c,d"):
        with pytest.raises(ValueError, match="rate="):
            ratings_in(text)


ID = "2022010100gm-0009-0000-00000000"
SHORT = write_mjlog(drawn_game(shuffled_wall(1), shuffled_wall(2)))
RICH = write_mjlog(random_game(3))
SEED = SEED_PREFIX + base64.b64encode(bytes(range(256)) * 9 + bytes(192)).decode()


def test_the_head_gives_names_dans_ratings_room_and_rules() -> None:
    log = parse_mjlog(SHORT, ID)
    assert log.names == ("Anna", "Ben", "クレオ", "D")
    assert log.dans == (10, 11, 0, 20)
    assert log.ratings == (1500.0, 1723.25, 2100.5, 1999.0)
    assert (log.room, log.rules.num_winds, log.rules.open_tanyao) == ("general", 2, True)
    assert log.final_scores == (25_000,) * 4


@pytest.mark.parametrize(
    ("kind", "room", "num_winds", "open_tanyao"),
    [
        (169, "phoenix", 2, True),
        (41, "expert", 2, True),
        (137, "advanced", 2, True),
        (225, "phoenix", 1, True),
        (1, "general", 1, True),
        (13, "general", 2, False),
        (168, "", 2, True),  # not against people
    ],
)
def test_the_bits_of_go_give_room_and_rules(kind: int, room: str, num_winds: int, open_tanyao: bool) -> None:
    log = parse_mjlog(SHORT.replace('GO type="9"', f'GO type="{kind}"'), ID)
    assert (log.room, log.rules.num_winds, log.rules.open_tanyao) == (room, num_winds, open_tanyao)
    for lobby in ("1234", "C1234"):  # of somebody's own, or of a tournament
        assert parse_mjlog(SHORT.replace('lobby="0"', f'lobby="{lobby}"'), ID).room == ""


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ('GO type="9"', 'GO type="185"', THREE_PLAYERS),
        ('GO type="9"', 'GO type="143"', NO_RED_FIVES),
        ('sc="250,0,250,0,250,0,250,0"', 'sc="250,0,250,0,250,0,250,0,0,0,0,0,0,0,0,0"', CHIPS),
    ],
)
def test_a_foreign_game_is_not_called_damaged(old: str, new: str, kind: str) -> None:
    assert old in SHORT
    with pytest.raises(ForeignRecord) as caught:
        parse_mjlog(SHORT.replace(old, new), ID)
    assert caught.value.kind == kind


def test_moves_of_a_game_of_tsumogiri() -> None:
    log = parse_mjlog(SHORT, ID)
    assert [(kyoku.kyoku, kyoku.honba) for kyoku in log.kyokus] == [(0, 0), (1, 1)]
    assert log.kyokus[1].moves[:5].tolist() == [move(seat, TSUMOGIRI) for seat in (1, 2, 3, 0, 1)]
    assert log.kyokus[0].moves.size == 70


def test_a_rich_game_replays_without_a_difference() -> None:
    log = parse_mjlog(RICH, random_game(3).id)
    assert any(kyoku.result["result"] == WIN_RESULT for kyoku in log.kyokus)
    assert Replayer().replay(log) == []


def test_unknown_attributes_an_xml_header_and_line_breaks_do_not_matter() -> None:
    plain = parse_mjlog(SHORT, ID)
    text = '<?xml version="1.0"?>\n' + SHORT.replace("/><", "/>\r\n  <").replace("<INIT", '<INIT new="1"')
    assert [k.moves.tolist() for k in parse_mjlog(text, ID).kyokus] == [k.moves.tolist() for k in plain.kyokus]


# ---- seats that come and go


def test_an_attribute_that_comes_twice_with_the_same_value_does_not_matter() -> None:
    """Real games of May 2010 end with ``owari`` twice."""
    text = re.sub(r'( owari="[^"]*")', r"\1\1", SHORT)
    assert text != SHORT
    log = parse_mjlog(SHORT, ID)
    assert parse_mjlog(text, ID) == log
    assert parse_mjlog(text.replace("<GO ", "<!-- --><GO type='9' lobby=\"0\" "), ID) == log


@pytest.mark.parametrize("comment", ["", "<!-- -->"])
def test_tags_around_deals_and_of_the_live_connection_are_ignored_and_counted(comment: str) -> None:
    text = re.sub(r"(<INIT.*?)(?=<INIT|</mjloggm)", rf"<Scene>{comment}\1</Scene>", SHORT)
    text = text.replace("<INIT", '<CHAT text="%6F%6B" uname="%41"/><INIT').replace("</mjloggm", "<PROF/></mjloggm")
    log = parse_mjlog(text, ID)
    assert log == parse_mjlog(SHORT, ID)
    assert log.ignored == {"tag Scene": 2, "tag CHAT": 2, "tag PROF": 1}


@pytest.mark.parametrize("broken", ["%E3%8", "%83%65%83%58%83%67", "%FF%FE"])
def test_a_name_that_cannot_be_read_costs_the_name(broken: str) -> None:
    log = parse_mjlog(re.sub(r'n0="[^"]*"', f'n0="{broken}"', SHORT), ID)
    assert log.names == ("", *parse_mjlog(SHORT, ID).names[1:])
    assert log.ignored == {"a name that is not UTF-8": 1}


def test_a_bye_before_the_first_deal_is_in_force_from_its_first_move() -> None:
    log = parse_mjlog(SHORT.replace("<TAIKYOKU", '<BYE who="2" /><TAIKYOKU'), ID)
    assert [kyoku.moves[0] for kyoku in log.kyokus] == [move(2, LEAVE), move(2, LEAVE)]


def test_bye_and_return_stand_between_the_moves_where_they_happen() -> None:
    first, second = re.findall(r"<[DEFG]\d+/>", SHORT)[:2]
    text = SHORT.replace(first, first + '<BYE who="3" /><BYE who="3" />').replace(second, second + '<UN n3="D" />')
    moves = parse_mjlog(text, ID).kyokus[0].moves.tolist()
    assert moves[:4] == [move(0, TSUMOGIRI), move(3, LEAVE), move(1, TSUMOGIRI), move(3, RETURN)]
    assert parse_mjlog(text, ID).kyokus[1].moves[0] == move(1, TSUMOGIRI)


def test_a_seat_that_returns_between_deals_is_present_in_the_next() -> None:
    text = SHORT.replace("<TAIKYOKU", '<BYE who="0" /><TAIKYOKU')
    end = re.findall(r"<RYUUKYOKU[^>]*>", text)[0]
    log = parse_mjlog(text.replace(end, end + '<UN n0="A" />', 1), ID)
    assert log.kyokus[0].moves[0] == move(0, LEAVE)
    assert log.kyokus[1].moves[0] == move(1, TSUMOGIRI)


# ---- seeds


def test_with_its_seed_a_record_has_the_computed_walls() -> None:
    deals = list(islice(tenhou_deals(SEED), 2))
    text = write_mjlog(drawn_game(*(deal.wall for deal in deals)))
    for log in (parse_mjlog(text, ID, SEED), parse_mjlog(text.replace('seed=""', f'seed="{SEED}"'), ID)):
        for kyoku, deal in zip(log.kyokus, deals, strict=True):
            assert kyoku.is_wall_from_seed
            assert np.array_equal(kyoku.wall, deal.wall)
            assert np.array_equal(kyoku.deal, deal.wall[:52])
            assert np.array_equal(kyoku.draws, deal.wall[52:122])


def test_a_record_that_contradicts_its_seed_after_the_first_deal_is_left_to_the_replay() -> None:
    first = next(tenhou_deals(SEED))
    log = parse_mjlog(write_mjlog(drawn_game(first.wall, shuffled_wall(2))), ID, SEED)
    assert [kyoku.is_wall_from_seed for kyoku in log.kyokus] == [True, True]
    assert "deal differs" in Replayer().replay(log)[0].what


def test_an_indicator_that_is_not_that_of_the_seed_is_refused() -> None:
    wall = next(tenhou_deals(SEED)).wall.copy()
    wall[[130, 122]] = wall[[122, 130]]
    with pytest.raises(RecordError, match="are not those of the seed"):
        parse_mjlog(write_mjlog(drawn_game(wall)), ID, SEED)


@pytest.mark.parametrize(
    ("seed", "problem"),
    [
        (SEED, OTHER_SEED),
        (SEED[:-8], UNREADABLE_SEED),
        ("mt19937ar,4324C796", UNREADABLE_SEED),
        ("mt19937ar-sha512-n288,4324C796,zz", UNREADABLE_SEED),
        ("", NO_SEED),
    ],
)
def test_a_seed_that_cannot_be_used_never_costs_a_game(seed: str, problem: str) -> None:
    for log in (parse_mjlog(SHORT, ID, seed), parse_mjlog(SHORT.replace('seed=""', f'seed="{seed}"'), ID)):
        assert log.seed_problem == problem
        assert len(log.kyokus) == 2
        assert not any(kyoku.is_wall_from_seed for kyoku in log.kyokus)


def test_the_seeds_of_2009_give_every_wall() -> None:
    shuffles = [f"mt19937ar,{number:X},FD7D2F48,8857571D" for number in (7, 8)]
    text = write_mjlog(drawn_game(*(kyoku_deal(shuffle).wall for shuffle in shuffles)))
    for number, shuffle in enumerate(shuffles):
        text = text.replace(f'<INIT seed="{number},', f'<INIT shuffle="{shuffle}" seed="{number},')
    log = parse_mjlog(text, ID)
    assert log.seed_problem == ""
    assert all(kyoku.is_wall_from_seed for kyoku in log.kyokus)
    differences = Replayer().replay(log)
    assert not any("differs" in difference.what for difference in differences)  # the game is too short, no more


@pytest.mark.parametrize("is_turned", [False, True])
def test_hexadecimal_seeds_are_read_with_either_order_of_the_dead_wall(is_turned: bool) -> None:
    seed = "mt19937ar-sha512-n288,AFA75809,084799aa,FEF333B8"
    deals = [deal.with_turned_pairs() if is_turned else deal for deal in islice(tenhou_deals(seed), 2)]
    log = parse_mjlog(write_mjlog(drawn_game(*(deal.wall for deal in deals))), ID, seed)
    assert [np.array_equal(kyoku.wall, deal.wall) for kyoku, deal in zip(log.kyokus, deals, strict=True)] == [True] * 2


# ---- what is refused


DAMAGE = {
    "unknown tag": (r"<RYUUKYOKU", "<SOMETHING", "unknown tag SOMETHING"),
    "missing attribute": (r' oya="0" hai0', " hai0", "oya is missing"),
    "text between tags": (r"<TAIKYOKU", "hello<TAIKYOKU", "'hello' is not a tag"),
    "a document type": (r"<mjloggm", "<!DOCTYPE mjloggm><mjloggm", "document type"),
    "a web page": (r"<mjloggm", "<!DOCTYPE html><mjloggm", "a web page"),
    "a tag in a tag": (r"<INIT([^>]*)/>(<T\d+/>)", r"<INIT\1>\2</INIT>", "INIT is not closed properly"),
    "a tag and a comment in a tag": (r"<INIT([^>]*)/>(<T\d+/>)", r"<INIT\1><!-- -->\2</INIT>", "inside tag INIT"),
    "an unknown entity": (r"<GO ", '<GO a="&lol;" ', "undefined entity"),
    "no end": (r"</mjloggm>", "", "truncated"),
    "no final score": (r' owari="[^"]*"', "", "no owari"),
    "a tile that is not in the hand": (r"<D\d+/>", "<D999/>", "not in its hand"),
    "a draw out of turn": (r"<T(\d+)/>", r"<V\1/>", "turn of seat 0"),
    "a tile id out of range": (r"<T\d+/>", "<T136/>", "outside 0-135"),
    "a deal of twelve": (r'hai0="\d+,', 'hai0="', "12 tiles"),
    "another dealer": (r'oya="0" hai', 'oya="1" hai', "dealer"),
    "scores that do not follow": (r'ten="250,', 'ten="251,', "scores"),
    "no whole number": (r'seed="0,', 'seed="zero,', "whole numbers"),
    "a missing number": (r'seed="0,', 'seed="', "5 numbers instead of 6"),
    "an attribute twice": (r"<GO ", '<GO type="8" ', "twice, with different values"),
    "an attribute twice and a comment": (r"<GO ", '<!-- --><GO type="8" ', "duplicate attribute"),
    "a live tag before the record": (r"<mjloggm", "<CHAT/><mjloggm", "CHAT"),
    "a live tag after the record": (r"</mjloggm>", "</mjloggm><CHAT/>", "CHAT"),
    "a tag that is not closed": (r"/><GO", "><GO", "not closed"),
    "a second GO": (r"<INIT", '<GO type="9"/><INIT', "comes twice"),
    "somebody back who never left": (r"<INIT", '<UN n1="B" /><INIT', "without having left"),
    "another start": (r"<mjloggm", "<other><mjloggm", "unknown tag"),
    "a rating without a limit": (r'rate="[^,]*,', 'rate="inf,', "not four numbers"),
    "a draw of an unknown kind": (r"<RYUUKYOKU", '<RYUUKYOKU type="rain"', "'rain'"),
    "nothing": (r"[\s\S]*", "", "empty"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_record_is_refused_with_reason_and_position(name: str) -> None:
    pattern, replacement, reason = DAMAGE[name]
    text, count = re.subn(pattern, replacement, SHORT, count=1)
    assert count == 1
    with pytest.raises(RecordError, match=re.escape(reason)) as caught:
        parse_mjlog(text, ID)
    assert caught.value.position


MISSING = {
    "the dora of a kan in a drawn deal": (
        r'<DORA hai="\d+" ?/>(?=((?!<INIT).)*<RYUUKYOKU)',
        "that of a kan is missing",
    ),
    "ura dora": (r' doraHaiUra="\d+"', "shows no ura dora indicators"),
    "one of two ura dora": (r'(?<=doraHaiUra="\d{2}),\d+(?=")', "shows 1 ura dora indicators for 2 dora indicators"),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_record_without_something_that_was_seen_is_set_aside(name: str) -> None:
    pattern, reason = MISSING[name]
    text, count = re.subn(pattern, "", write_mjlog(random_game(2)), count=1)
    assert count == 1
    with pytest.raises(RecordError, match=reason) as caught:
        parse_mjlog(text, ID)
    assert caught.value.kind == INCOMPLETE


NUMBERS_TOO_LARGE = {
    "han": (r' yaku="', ' yaku="' + "8,54," * 60, "pairs"),
    "dora": (r' yaku="', ' yaku="' + "52,54,54,54,53,54," * 3, "dora"),
    "fu": (r' ten="\d+,(\d+),\d+" yaku', r' ten="40000,\1,0" yaku', "fu"),
    "yakuman": (r' yaku="[^"]*"', f' yakuman="{"37," * 200}37"', "yakuman"),
    "deltas": (r' sc="[^"]*"', ' sc="250,9999999,250,0,250,0,250,0"', "outside"),
    "points": (r'ten="\d+,\d+', 'ten="30,99999999', "outside"),
}


@pytest.mark.parametrize("name", NUMBERS_TOO_LARGE)
def test_numbers_that_fit_no_field_are_refused(name: str) -> None:
    pattern, replacement, reason = NUMBERS_TOO_LARGE[name]
    start = RICH.index("<AGARI")
    text, count = re.subn(pattern, replacement, RICH[start:], count=1)
    assert count == 1
    with pytest.raises(RecordError, match=reason):
        parse_mjlog(RICH[:start] + text, ID)


def test_a_record_of_any_number_of_tags_or_any_long_tag_is_refused() -> None:
    with pytest.raises(RecordError, match="over 100,000 tags"):
        parse_mjlog("<T1/>" * (MAX_TAGS + 1), ID)
    with pytest.raises(RecordError, match="tag SHUFFLE has 20,0"):
        parse_mjlog(SHORT.replace('seed=""', f'seed="{"x" * 20_000}"'), ID)
    with pytest.raises(RecordError) as caught:
        parse_mjlog(SHORT.replace("<GO", f"<{'G' * 10**6}"), ID)
    assert len(caught.value.reason) < 100


def test_the_position_of_an_error_names_deal_tag_and_character() -> None:
    second = SHORT.index("<INIT", SHORT.index("<INIT") + 1)
    place = SHORT.index("<G", second)
    with pytest.raises(RecordError) as caught:
        parse_mjlog(SHORT[:place] + "<X/>" + SHORT[place:], ID)
    assert caught.value.position.startswith("kyoku 1 honba 1, tag ")
    assert caught.value.position.endswith(f"character {place}")


def test_a_closed_record_whose_last_deal_is_cut_off_has_no_end() -> None:
    second = SHORT.index("<INIT", SHORT.index("<INIT") + 1)
    with pytest.raises(RecordError, match="the last kyoku has no end") as caught:
        parse_mjlog(SHORT[: second + 400].rpartition("<")[0] + "</mjloggm>", ID)
    assert caught.value.kind == NO_END


def test_fragments_are_read_when_allowed() -> None:
    second = SHORT.index("<INIT", SHORT.index("<INIT") + 1)
    log = parse_mjlog(SHORT[: second + 400].rpartition("<")[0] + "</mjloggm>", ID, is_fragment_allowed=True)
    assert len(log.kyokus) == 1
    assert log.final_scores is None


def is_readable(text: str) -> bool:
    """Tell whether a record is read; any error but RecordError is a failure."""
    try:
        parse_mjlog(text, ID)
    except RecordError:
        return False
    return True


@pytest.mark.parametrize("step", [97])
def test_truncation_anywhere_is_refused(step: int) -> None:
    for end in range(0, len(RICH) - 1, step):
        with pytest.raises(RecordError):
            parse_mjlog(RICH[:end], ID)


def test_flipped_bits_never_raise_anything_else() -> None:
    rng = random.Random(1)
    data = RICH.encode()
    num_readable = 0
    for _ in range(400):
        place = rng.randrange(len(data))
        flipped = data[:place] + bytes([data[place] ^ 1 << rng.randrange(7)]) + data[place + 1 :]
        num_readable += is_readable(flipped.decode("utf-8", "replace"))
    assert 0 < num_readable < 400


def test_tags_in_another_order_never_raise_anything_else() -> None:
    rng = random.Random(2)
    tags = re.findall(r"<[^>]*>", RICH)
    num_readable = 0
    for _ in range(150):
        i, j = sorted(rng.sample(range(len(tags)), 2))
        num_readable += is_readable("".join([*tags[:i], tags[j], *tags[i + 1 : j], tags[i], *tags[j + 1 :]]))
        num_readable += is_readable("".join(tags[:i] + tags[j:]))
    assert 0 < num_readable < 300


VALUES = ["", "-1", "0", "4", "136", "99999999999999999999", "1,2", "1,,2", "a", "%", "１", "1e9", "nan", "\x00"]


def test_strange_values_never_raise_anything_else() -> None:
    rng = random.Random(3)
    places = [match.span(1) for match in re.finditer(r'"([^"]*)"', RICH)]
    num_readable = 0
    for _ in range(400):
        start, end = rng.choice(places)
        num_readable += is_readable(RICH[:start] + rng.choice(VALUES) + RICH[end:])
    assert 0 < num_readable < 400


@given(st.text(alphabet='<>/="T0123456789 ,INITmjloggAwhoé\n'))
def test_any_text_is_refused(text: str) -> None:
    with pytest.raises(RecordError):
        parse_mjlog(text, ID)


SEED_BYTES = np.random.default_rng(5).bytes(624 * 4)
TENHOU_SEED = SEED_PREFIX + base64.b64encode(SEED_BYTES).decode()


def slow_deals(seed: bytes, count: int) -> list[tuple[list[int], tuple[int, int]]]:
    """The published shuffle once more, by Python's own Mersenne Twister, which also seeds by init_by_array."""
    generator = random.Random(int.from_bytes(seed, "little"))
    deals = []
    for _ in range(count):
        words = b"".join(generator.getrandbits(32).to_bytes(4, "little") for _ in range(288))
        digest = b"".join(hashlib.sha512(words[i : i + 128]).digest() for i in range(0, 1152, 128))
        numbers = [int.from_bytes(digest[i : i + 4], "little") for i in range(0, 576, 4)]
        yama = list(range(136))
        for i in range(135):
            j = i + numbers[i] % (136 - i)
            yama[i], yama[j] = yama[j], yama[i]
        deals.append(([yama[135 - i] for i in range(136)], (numbers[135] % 6, numbers[136] % 6)))
    return deals


def test_walls_and_dice_equal_those_of_a_slow_twin() -> None:
    deals = [(deal.wall.tolist(), deal.dice) for deal in islice(tenhou_deals(TENHOU_SEED), 12)]
    assert deals == slow_deals(SEED_BYTES, 12)


def test_hexadecimal_seeds_give_the_walls_of_a_slow_twin() -> None:
    words = np.frombuffer(SEED_BYTES, "<u4")[:32]
    seed = HEX_SEED_PREFIX + ",".join(f"{word:08X}" for word in words.tolist())
    deals = [(deal.wall.tolist(), deal.dice) for deal in islice(tenhou_deals(seed), 12)]
    assert deals == slow_deals(SEED_BYTES[: 4 * 32], 12)


@pytest.mark.parametrize("num_words", [8, 32])
def test_the_seed_of_one_kyoku_shuffles_without_sha_and_turns_the_dead_wall(num_words: int) -> None:
    key = SEED_BYTES[: 4 * num_words]
    generator = random.Random(int.from_bytes(key, "little"))
    yama = list(range(136))
    for i in range(135):
        j = i + generator.getrandbits(32) % (136 - i)
        yama[i], yama[j] = yama[j], yama[i]
    dice = (generator.getrandbits(32) % 6, generator.getrandbits(32) % 6)
    turned = [yama[i ^ 1] if i < 14 else yama[i] for i in range(136)]
    deal = kyoku_deal(KYOKU_SEED_PREFIX + ",".join(f"{word:X}" for word in np.frombuffer(key, "<u4").tolist()))
    assert deal.wall.tolist() == turned[::-1]
    assert deal.dice == dice


@pytest.mark.parametrize(
    "shuffle", ["", "4324C796", "mt19937ar,", "mt19937ar,xyz", "mt19937ar,1,,2", "mt19937ar,123456789"]
)
def test_a_damaged_seed_of_one_kyoku_is_refused(shuffle: str) -> None:
    with pytest.raises(ValueError, match="shuffle"):
        kyoku_deal(shuffle)


def test_every_wall_has_each_tile_once() -> None:
    for deal in islice(tenhou_deals(TENHOU_SEED), 5):
        assert deal.wall.dtype == np.uint8
        assert sorted(deal.wall.tolist()) == list(range(136))


@pytest.mark.parametrize(
    ("seed", "reason"),
    [
        ("mt19937ar,4324C796", "only 'mt19937ar-sha512"),
        (SEED_PREFIX + "!!!!", "not base64"),
        (SEED_PREFIX + "é", "not base64"),
        (HEX_SEED_PREFIX, "hexadecimal words"),
        (HEX_SEED_PREFIX + "12,-3", "hexadecimal words"),
        (HEX_SEED_PREFIX + ",".join(["1"] * 625), "at most 624"),
        (SEED_PREFIX + base64.b64encode(b"short").decode(), "5 bytes"),
        ("", "only"),
    ],
)
def test_a_seed_of_another_form_is_refused_at_the_call(seed: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        tenhou_deals(seed)


@pytest.mark.records
def test_the_seeds_of_real_games_give_their_deals_draws_and_dice(records: Path) -> None:
    folder = records / "houou-hanchan-202205"
    num_kyoku = 0
    with lzma.open(folder / "games.tsv.xz", "rt") as games, lzma.open(folder / "seeds.tsv.xz", "rt") as seeds:
        for game, seed_line in islice(zip(games, seeds, strict=True), 20):
            deals = tenhou_deals(seed_line.rstrip("\n").split("\t")[1])
            for kyoku in re.split("(?=<INIT)", game)[1:]:
                deal = next(deals)
                start = [int(x) for x in re.findall(r'seed="([^"]*)"', kyoku)[0].split(",")]
                draws = [int(x) for x in re.findall(r"<[TUVW](\d+)/>", kyoku.split("<N ")[0])]
                assert (*deal.dice, deal.wall[130]) == tuple(start[3:])
                assert deal.wall[52 : 52 + len(draws)].tolist() == draws
                num_kyoku += 1
    assert num_kyoku > 100


WALL_SEED = "mt19937ar-sha512-n288,1,2,3"
SHUFFLES = ("mt19937ar,1,2", "mt19937ar,3,4")


def play(walls: SeededWalls, deal: Deal, *, is_start_of_game: bool = False, shuffle: str = "") -> bool:
    """Show a recorded deal and return whether its wall is known."""
    walls.start_kyoku(is_start_of_game=is_start_of_game, shuffle=shuffle)
    wall = walls.finish_kyoku(deal.wall[:52].tolist(), int(deal.wall[DORA_POSITIONS[0]]))
    return wall is not None and wall.tolist() == deal.wall.tolist()


def test_a_seed_gives_the_walls_in_order() -> None:
    walls = SeededWalls(WALL_SEED)
    first, second = islice(tenhou_deals(WALL_SEED), 2)
    assert play(walls, first, is_start_of_game=True)
    assert play(walls, second)
    assert walls.problem == ""


def test_each_deal_may_have_its_own_seed() -> None:
    walls = SeededWalls(None)
    assert play(walls, kyoku_deal(SHUFFLES[0]), is_start_of_game=True, shuffle=SHUFFLES[0])
    assert play(walls, kyoku_deal(SHUFFLES[1]), shuffle=SHUFFLES[1])
    assert walls.problem == ""


def test_a_fragment_with_a_seed_for_each_deal_is_checked_too() -> None:
    assert play(SeededWalls(None), kyoku_deal(SHUFFLES[0]), shuffle=SHUFFLES[0])


@pytest.mark.parametrize(
    ("seed", "is_start_of_game", "shuffle", "problem"),
    [
        (None, True, "", NO_SEED),
        ("nonsense", True, "", UNREADABLE_SEED),
        (WALL_SEED, True, "", OTHER_SEED),
        (WALL_SEED, False, "", FROM_THE_MIDDLE),
        (None, True, "nonsense", UNREADABLE_SEED),
        (None, True, SHUFFLES[1], OTHER_SEED),
        ("nonsense", True, SHUFFLES[0], UNREADABLE_SEED),
    ],
)
def test_a_seed_that_cannot_be_used_has_a_reason(
    seed: str | None, is_start_of_game: bool, shuffle: str, problem: str
) -> None:
    walls = SeededWalls(seed)
    deal = kyoku_deal(SHUFFLES[0])
    assert not play(walls, deal, is_start_of_game=is_start_of_game, shuffle=shuffle)
    assert not play(walls, deal)
    assert walls.problem == problem


def test_only_the_first_seed_of_a_game_counts() -> None:
    walls = SeededWalls(WALL_SEED)
    walls.read_seed("mt19937ar-sha512-n288,4")
    assert play(walls, next(tenhou_deals(WALL_SEED)), is_start_of_game=True)


@pytest.mark.records
def test_real_games_of_2009_agree_with_the_seed_of_each_deal(records: Path) -> None:
    replayer = Replayer()
    num_words = set()
    with lzma.open(records / "careers-hanchan" / "games.tsv.xz", "rt") as games:
        for line in islice(games, 700):
            game_id, _, text = line.rstrip("\n").split("\t")
            seed = re.search(r'shuffle="([^"]*)"', text)
            kind = re.search(r'GO type="([0-9]+)"', text)
            if seed is None or kind is None or int(kind[1]) & NO_RED or seed[1].count(",") in num_words:
                continue
            num_words.add(seed[1].count(","))
            log = parse_mjlog(text, game_id)
            assert log.seed_problem == ""
            assert replayer.replay(log) == []
    assert num_words == {8, 32}
    assert replayer.num_draws_checked > 500
    assert replayer.num_draws_unchecked == 0
