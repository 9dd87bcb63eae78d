"""What the chart expects of its images stands in the Dockerfile."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import yaml

from tests.repository import REPOSITORY

DOCKERFILE = (REPOSITORY / "infra" / "docker" / "Dockerfile").read_text(encoding="utf-8")
VALUES = yaml.safe_load((REPOSITORY / "helm" / "suphx" / "values.yaml").read_text(encoding="utf-8"))
CHART = REPOSITORY / "helm" / "suphx"


def test_base_image_and_actions_of_ci_are_pinned() -> None:
    assert re.search(r"^ARG BASE=\S+@sha256:[0-9a-f]{64}$", DOCKERFILE, re.MULTILINE)
    workflows = [path.read_text() for path in (REPOSITORY / ".github" / "workflows").iterdir()]
    used = [action for text in workflows for action in re.findall(r"uses: *(.+)", text)]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", action)] == []


def test_the_user_is_the_one_that_pods_run_as() -> None:
    security = (CHART / "templates" / "_security.tpl").read_text(encoding="utf-8")
    (user,) = set(re.findall(r"^USER (\d+):\d+$", DOCKERFILE, re.MULTILINE))
    assert f"runAsUser: {user}\n" in security
    assert user != "0"
    assert re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE)[-1] == f"{user}:{user}"


def copied() -> set[str]:
    """Return the files and folders of the repository that the Dockerfile copies."""
    groups = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    return {name for group in groups for name in group.split()}


def test_the_package_can_be_built_from_what_is_copied(tmp_path: Path) -> None:
    build = tmp_path / "build"
    for name in copied():
        source, target = REPOSITORY / name, build / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    done = subprocess.run(command, cwd=build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= {"suphx_platform/chart/Chart.yaml", "suphx_pipelines/recipes/laptop.toml", "suphx/__init__.py"}
