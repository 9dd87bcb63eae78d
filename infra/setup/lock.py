"""Write the locks: every package that pyproject.toml asks for, with its version and the hashes of its files.

uv resolves the ranges for Python 3.11 to 3.14 on Linux and macOS and keeps the versions of the present locks. There are
four:

- requirements.lock: what `make setup` installs, except torch.
- infra/setup/image.lock: the part of it that the images need.
- infra/setup/torch-cuda.lock: torch as the package index has it, and the CUDA packages that only this build needs.
- infra/setup/torch-cpu.lock: torch without CUDA. The package index has no such wheels: enter their hashes by hand.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PROJECT = REPOSITORY / "pyproject.toml"
ALL_LOCK = REPOSITORY / "requirements.lock"
IMAGE_LOCK = REPOSITORY / "infra" / "setup" / "image.lock"
CUDA_LOCK = REPOSITORY / "infra" / "setup" / "torch-cuda.lock"
CPU_LOCK = REPOSITORY / "infra" / "setup" / "torch-cpu.lock"
# The oldest Python that all locked packages accept.
PYTHON = "3.11.5"
# Packages that nothing but the CUDA build of torch needs; nvidia-ml-py reads the metrics of GPUs.
CUDA_NAMES = re.compile(r"torch|triton|(nvidia|cuda)-(?!ml-py).*")
HEADERS = {
    ALL_LOCK: """\
# Every package of a working environment except torch, with the hashes of its files: `make setup` installs no others.
# `make lock` writes this file. Direct dependencies and why they are here: docs/dependencies.md.
""",
    IMAGE_LOCK: "# The packages of requirements.lock that the images need. `make lock` writes this file.\n",
    CUDA_LOCK: "# torch as the package index has it, with the CUDA packages that it needs. `make lock` writes it.\n",
}


def read_entries(text: str) -> dict[str, str]:
    """Return the entries of a lock by package name: the pinned version and its hashes, as they stand there."""
    entries = re.findall(r"^[a-z0-9][^\n]*(?:\n    --hash[^\n]*)+\n", text, re.MULTILINE)
    return {entry.split("==")[0]: entry for entry in entries}


def resolve(pins: Path, options: list[str]) -> dict[str, str]:
    """Let uv write `pins`, whose versions it keeps, and return its entries by name.

    Raises:
        subprocess.CalledProcessError: uv finds no solution; it has printed why.
    """
    build_requires = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["build-system"]["requires"]
    uv = [str(Path(sys.executable).with_name("uv")), "pip", "compile", "--quiet", "--generate-hashes", "--no-header"]
    uv += ["--no-annotate", "--universal", "--python-version", PYTHON, "--output-file", str(pins)]
    subprocess.run(
        [*uv, *options, str(PROJECT), "-"],
        input="\n".join(build_requires),
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=pins.parent,
    )
    entries = read_entries(pins.read_text(encoding="utf-8"))
    return {name: entry for name, entry in entries.items() if "sys_platform == 'win32'" not in entry.split("\n")[0]}


def write_lock(path: Path, entries: dict[str, str]) -> None:
    """Write a lock with its header, sorted by name."""
    path.write_text(HEADERS[path] + "".join(entries[name] for name in sorted(entries)), encoding="utf-8")
    print(f"{path.relative_to(REPOSITORY)}: {len(entries)} packages")


def check_cpu_lock(cuda: dict[str, str]) -> None:
    """Compare the versions of both builds of torch; raise SystemExit if they differ."""
    version = cuda["torch"].split()[0].removeprefix("torch==")
    if f"torch=={version}+cpu" not in CPU_LOCK.read_text(encoding="utf-8"):
        sys.exit(
            f"torch is now {version}: write torch=={version}+cpu into {CPU_LOCK.relative_to(REPOSITORY)}, with the"
            " sha256 of its wheels on Linux (x86_64 and aarch64), for all versions of Python or with a marker for those"
            " that it has; the page of PyTorch shows them"
        )


def main() -> None:
    """Resolve the ranges and write the locks."""
    parser = argparse.ArgumentParser(description="Write the locks for the ranges in pyproject.toml.")
    parser.add_argument(
        "--upgrade", metavar="NAME", help="take the newest version of this package; all: of every package"
    )
    asked = parser.parse_args().upgrade
    upgrade = [] if asked is None else ["--upgrade"] if asked == "all" else ["--upgrade-package", asked]
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "pins.txt"
        pins.write_text("".join(path.read_text(encoding="utf-8") for path in (ALL_LOCK, CUDA_LOCK)), encoding="utf-8")
        entries = resolve(pins, ["--all-extras", *upgrade])
        image = resolve(pins, ["--extra", "platform", "--extra", "server"])
    cuda = {name: entry for name, entry in entries.items() if CUDA_NAMES.fullmatch(name)}
    write_lock(ALL_LOCK, {name: entry for name, entry in entries.items() if name not in cuda})
    write_lock(IMAGE_LOCK, {name: entry for name, entry in image.items() if name not in cuda})
    write_lock(CUDA_LOCK, cuda)
    check_cpu_lock(cuda)


if __name__ == "__main__":
    main()
