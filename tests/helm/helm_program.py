"""The program ``helm`` where it is not installed: ``helm template`` by Helm's own engine, from the development SDK.

>>> PATH = with_helm(folder)
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from pathlib import Path

import yaml
from helm_python import Chart, HelmError

from tests.repository import REPOSITORY


def with_helm(folder: Path) -> str:
    """Return a PATH with helm: the installed program, else one that is written into ``folder``."""
    path = os.environ["PATH"]
    if shutil.which("helm", path=path):
        return path
    program = folder / "helm"
    command = shlex.join([sys.executable, "-m", __name__])
    program.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(REPOSITORY))} exec {command} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{path}"


def main() -> None:
    """Do what ``helm template RELEASE CHART --namespace N --show-only FILE [--values FILE]`` does."""
    parser = argparse.ArgumentParser(prog="helm")
    parser.add_argument("command", choices=["template"])
    parser.add_argument("release")
    parser.add_argument("chart", type=Path)
    parser.add_argument("--namespace")
    parser.add_argument("--show-only")
    parser.add_argument("--values", type=Path)
    args = parser.parse_args()
    try:
        values = yaml.safe_load(args.values.read_text(encoding="utf-8")) if args.values else {}
        with Chart.load(args.chart) as chart:
            chart.validate_schema(values)
            texts = chart.render(values, name=args.release, namespace=args.namespace)
    except (HelmError, OSError) as error:
        sys.exit(f"Error: {error}")
    sys.stdout.write(next(text for path, text in texts.items() if path.endswith(args.show_only)))


if __name__ == "__main__":
    main()
