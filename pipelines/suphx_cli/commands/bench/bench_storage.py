"""``suphx bench storage``: the speed of saves."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx_cli.arguments.parsing import ENCODERS, SIZES, parallel, positive, steps

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console


def add_parser(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``bench storage``."""
    parser = subjects.add_parser(
        "storage", parents=[options], help="measure how fast a training state is saved to a storage and loaded"
    )
    parser.add_argument(
        "--address", required=True, metavar="ADDRESS", help="s3://bucket/prefix or a folder; what is saved is removed"
    )
    parser.add_argument(
        "--endpoint-url", default="", metavar="URL", help="S3-compatible server (default: AWS_ENDPOINT_URL_S3)"
    )
    parser.add_argument("--peer", choices=("aws",), help="another program that copies the same files: aws s3 cp")
    parser.add_argument(
        "--size", choices=SIZES, default="paper", help="nets whose training state is saved (default: paper)"
    )
    parser.add_argument("--encoder", choices=ENCODERS, default="suphx", help="planes of the nets (default: suphx)")
    parser.add_argument("--threads", type=parallel, default=8, metavar="N", help="parts at once (default: 8)")
    parser.add_argument("--rounds", type=positive, default=3, metavar="N", help="saves and loads (default: 3)")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure; ValueError for a wrong address or a peer that is not there."""
    from suphx_platform.bench.storage import bench_storage
    from suphx_platform.storage.storage_config import StorageConfig

    config = StorageConfig(address=args.address, endpoint_url=args.endpoint_url, threads=args.threads)
    with steps(console) as begin:
        return bench_storage(
            config, size=args.size, encoder=args.encoder, rounds=args.rounds, peer=args.peer, say=begin
        )
