"""Dazhong mahjong: the 108 suited tiles, chow, pung, kong and ting, each paid at once (docs/dazhong.md)."""
