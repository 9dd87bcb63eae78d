"""Whether a run that is there already was made with the settings of now: a run that is named by hand may be another."""

from __future__ import annotations

from collections.abc import Mapping

_SHOWN = 8


def check_same_settings(what: str, before: Mapping[str, object], now: Mapping[str, object]) -> None:
    """Raise ValueError, with the keys that differ, if ``what`` was made with other settings than those of ``now``.

    Both are ``{"a.b": value}``; a key that only one of them has is that of another version of this program.
    """
    differing = [key for key in now if key in before and before[key] != now[key]]
    if not differing:
        return
    told = [f"{key} is {before[key]!r} there, {now[key]!r} here" for key in differing[:_SHOWN]]
    told += [f"and {len(differing) - _SHOWN} more"] if len(differing) > _SHOWN else []
    raise ValueError(
        f"{what} was made with other settings: {'; '.join(told)}. Nothing was changed. Use another --run-id or none "
        "(the id is then derived from the settings), or resume it with its own settings"
    )
