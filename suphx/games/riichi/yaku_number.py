"""The numbers of the yaku, Tenhou's, and their names. A bit set of yaku has bit ``1 << PINFU``, and so on."""

from __future__ import annotations

YAKU_NAMES = (
    "menzen tsumo", "riichi", "ippatsu", "chankan", "rinshan kaihou", "haitei", "houtei", "pinfu", "tanyao", "iipeikou",
    "seat wind east", "seat wind south", "seat wind west", "seat wind north",
    "round wind east", "round wind south", "round wind west", "round wind north",
    "haku", "hatsu", "chun", "double riichi", "chiitoitsu", "chanta", "ittsuu", "sanshoku doujun", "sanshoku doukou",
    "sankantsu", "toitoi", "sanankou", "shousangen", "honroutou", "ryanpeikou", "junchan", "honitsu", "chinitsu",
    "renhou", "tenhou", "chiihou", "daisangen", "suuankou", "suuankou tanki", "tsuuiisou", "ryuuiisou", "chinroutou",
    "chuuren poutou", "junsei chuuren poutou", "kokushi musou", "kokushi musou 13 waits", "daisuushii", "shousuushii",
    "suukantsu",
)  # fmt: skip
(
    MENZEN_TSUMO, RIICHI, IPPATSU, CHANKAN, RINSHAN_KAIHOU, HAITEI, HOUTEI, PINFU, TANYAO, IIPEIKOU, SEAT_WIND_EAST,
    SEAT_WIND_SOUTH, SEAT_WIND_WEST, SEAT_WIND_NORTH, ROUND_WIND_EAST, ROUND_WIND_SOUTH, ROUND_WIND_WEST,
    ROUND_WIND_NORTH, HAKU, HATSU, CHUN, DOUBLE_RIICHI, CHIITOITSU, CHANTA, ITTSUU, SANSHOKU_DOUJUN, SANSHOKU_DOUKOU,
    SANKANTSU, TOITOI, SANANKOU, SHOUSANGEN, HONROUTOU, RYANPEIKOU, JUNCHAN, HONITSU, CHINITSU, RENHOU, TENHOU,
    CHIIHOU, DAISANGEN, SUUANKOU, SUUANKOU_TANKI, TSUUIISOU, RYUUIISOU, CHINROUTOU, CHUUREN_POUTOU,
    JUNSEI_CHUUREN_POUTOU, KOKUSHI_MUSOU, KOKUSHI_MUSOU_13_WAITS, DAISUUSHII, SHOUSUUSHII, SUUKANTSU,
) = range(52)  # fmt: skip
FIRST_YAKUMAN = TENHOU
"""This and all that follow are yakuman (renhou is not played)."""
ALL_YAKUMAN = (1 << 52) - (1 << FIRST_YAKUMAN)
"""Bit set."""
