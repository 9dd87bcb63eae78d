"""Records that were set aside, as a person reads them: how many for each reason, what to do, and the first ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_platform.console.table_text import count_text, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suphx.games.riichi import Quarantine, QuarantinedRecord

MAX_SHOWN = 10


def quarantine_json(quarantine: Quarantine) -> dict[str, object]:
    """Return the keys that every command on records has: ``quarantined``, ``quarantined_by_reason``, ``quarantine``."""
    return {
        "quarantined": quarantine.count,
        "quarantined_by_reason": quarantine.by_reason,
        "quarantine": [
            {"file": entry.file, "position": entry.position, "reason": entry.reason, "remedy": entry.remedy}
            for entry in quarantine.entries[:MAX_SHOWN]
        ],
    }


def check_games(paths: Sequence[Path]) -> None:
    """Raise ValueError if none of the records can be parsed."""
    from suphx.games.riichi import Quarantine

    quarantine = Quarantine()
    if not has_games(paths, quarantine):
        raise ValueError(nothing_read(quarantine))


def has_games(paths: Sequence[Path], quarantine: Quarantine) -> bool:
    """Tell whether a record can be parsed, which needs no kernels; those before it are set aside."""
    from suphx.games.riichi import iter_records

    return next(iter_records(paths, quarantine=quarantine, is_fragment_allowed=True), None) is not None


def nothing_read(quarantine: Quarantine) -> str:
    """Return why no record could be used."""
    if not quarantine.entries:
        return "the files are empty"
    first = quarantine.entries[0]
    reason = f"{first.reason}; {first.remedy}"
    return f"none of {quarantine.count:,} records can be used; the first: {place_text(first)}: {reason}"


def quarantine_sentence(quarantine: Quarantine) -> str | None:
    """Return how many records were set aside, and why the first one; None if none was."""
    if not quarantine.count:
        return None
    first = quarantine.entries[0]
    records = count_text(quarantine.count, "record was", "records were")
    return f"{records} set aside; the first: {place_text(first)}: {first.reason}; {first.remedy}"


def place_text(entry: QuarantinedRecord) -> str:
    """Return the file of a record, and where in it the record is."""
    return f"{entry.file}, {entry.position}" if entry.position else entry.file


def quarantine_lines(quarantine: Quarantine, written_to: Path | None = None) -> list[str]:
    """Return the lines of a table of reasons and of the first records; none if nothing was set aside.

    ``written_to``: the file that has the complete list.
    """
    from suphx.games.riichi import RECORD_REMEDIES

    if not quarantine.count:
        return []
    records = count_text(quarantine.count, "record was", "records were")
    rows = [[reason, f"{count:,}", RECORD_REMEDIES.get(reason, "")] for reason, count in quarantine.by_reason.items()]
    lines = ["", f"{records} set aside:"]
    lines += [f"  {line}" for line in text_table(("reason", "records", "what to do"), rows)]
    shown = _first_of_each_reason(quarantine)
    lines += ["", "The first of each reason:" if quarantine.count > len(shown) else "They are:"]
    for entry in shown:
        lines.append(f"  {place_text(entry)}: {entry.reason}")
    if written_to is not None:
        lines.append(f"All are listed in {written_to}")
    return lines


def _first_of_each_reason(quarantine: Quarantine) -> list[QuarantinedRecord]:
    """Return at most MAX_SHOWN entries in their order, as many of each reason as there is room for."""
    most = max(1, MAX_SHOWN // max(1, len(quarantine.by_reason)))
    counts: Counter[str] = Counter()
    shown = []
    for entry in quarantine.entries:
        counts[entry.kind] += 1
        if counts[entry.kind] <= most or quarantine.count <= MAX_SHOWN:
            shown.append(entry)
    return shown[:MAX_SHOWN]
