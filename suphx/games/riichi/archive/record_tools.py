"""What ``suphx records`` does with records of riichi: the ``RecordTools`` of the contract of a game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import cast, get_args

from suphx.games.game import CountGames, Verification
from suphx.games.riichi.archive.archive import iter_records, verify_records
from suphx.games.riichi.archive.raw_record import record_files
from suphx.games.riichi.archive.record_stream import ReadShare
from suphx.games.riichi.archive.record_writer import RecordForm, file_forms, write_records
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.records.replay import is_result_whole
from suphx.games.riichi.records.statistics import game_row
from suphx.printable_text import printable


class RiichiRecordTools:
    """Records of many forms, read by many processes."""

    forms: tuple[str, ...] = get_args(RecordForm)
    kernel_groups: tuple[str, ...] = ("engine", "hands", "replay")
    has_luck = True
    new_set_aside = staticmethod(Quarantine)
    count = staticmethod(game_row)
    file_forms = staticmethod(file_forms)

    def read(
        self,
        paths: Sequence[Path],
        *,
        set_aside: Quarantine,
        workers: int = 1,
        seen: CountGames = lambda share, games: None,
    ) -> Iterator[GameLog]:
        """Yield the readable games of files and folders; ValueError as for ``iter_records``."""
        read = ReadShare()
        for log in iter_records(paths, workers=workers, quarantine=set_aside, read=read):
            yield log
            seen(read.share, 1)

    def has_games(self, paths: Sequence[Path], *, set_aside: Quarantine) -> bool:
        """Tell whether a record can be parsed, also one without an end."""
        return next(iter_records(paths, quarantine=set_aside, is_fragment_allowed=True), None) is not None

    def files(self, path: Path) -> Sequence[Path]:
        """Return the files that ``read`` reads."""
        return record_files([path])

    def kernels_to_write(self, source: Path, form: str) -> tuple[str, ...]:
        """Return those that compute han, fu and yaku, where the first record lacks them."""
        if form == "mjai":
            return ()
        first = next(iter_records([source], quarantine=Quarantine()), None)
        return () if first is None or all(map(is_result_whole, first.kyokus)) else self.kernel_groups

    def players(self, record: GameLog) -> Sequence[str]:
        """Return the names by seat."""
        return record.names

    def verify(self, paths: Sequence[Path], *, workers: int | None = None, seen: CountGames) -> Verification:
        """Replay all games and compare them with the rules, and draws with walls of shuffle seeds."""
        read = ReadShare()
        report = verify_records(paths, workers=workers, progress=lambda games: seen(read.share, games), read=read)
        values = report.to_json()
        counts = {"kyoku": report.kyoku, "decisions": report.decisions}
        return Verification(
            games=report.games,
            differences=report.differences,
            counts=counts,
            seconds=report.seconds,
            first=tuple(
                f"{printable(each.id)}, deal {each.kyoku + 1}, step {each.step}: {each.what}"
                for each in report.first_differences
            ),
            values={name: value for name, value in values.items() if name not in ("games", "differences", *counts)},
            rows={
                "draws compared with the shuffle seed": report.draws_checked,
                "draws that could not be compared": [
                    {"reason": reason, "draws": number} for reason, number in report.draws_unchecked.most_common()
                ],
                "ignored, because no game needs it": [
                    {"what": what, "times": number} for what, number in report.ignored.most_common()
                ],
            },
            set_aside=report.quarantine,
        )

    def check_target(self, target: Path) -> None:
        """Do nothing: any other name is that of a folder."""

    def write(
        self,
        records: Iterable[GameLog],
        target: Path,
        form: str,
        *,
        set_aside: Quarantine,
        kept: Set[Path] = frozenset(),
    ) -> int:
        """Write games, as ``write_records`` does."""
        return write_records(records, target, cast("RecordForm", form), quarantine=set_aside, kept=kept)
