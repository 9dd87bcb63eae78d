"""What the chart expects of its images stands in the Dockerfile."""

from __future__ import annotations

import re

import yaml

from tests.repository import REPOSITORY

DOCKERFILE = (REPOSITORY / "infra" / "docker" / "Dockerfile").read_text(encoding="utf-8")
VALUES = yaml.safe_load((REPOSITORY / "helm" / "suphx" / "values.yaml").read_text(encoding="utf-8"))
CHART = REPOSITORY / "helm" / "suphx"


def test_the_targets_are_the_images_of_the_chart() -> None:
    targets = re.findall(r"^FROM \S+ AS (\w+)$", DOCKERFILE, re.MULTILINE)
    assert {f"suphx-{target}" for target in targets} >= {VALUES["image"]["cpu"], VALUES["image"]["cuda"]}


def test_the_user_is_the_one_that_pods_run_as() -> None:
    security = (CHART / "templates" / "_security.tpl").read_text(encoding="utf-8")
    (user,) = re.findall(r"^USER (\d+):\d+$", DOCKERFILE, re.MULTILINE)
    assert f"runAsUser: {user}\n" in security
    assert user != "0"


def test_kernels_lie_where_pods_take_them_from() -> None:
    (folder,) = re.findall(r"SUPHX_CACHE=(\S+)", DOCKERFILE)
    assert f"[cp, -r, {folder}/., /cache/]" in (CHART / "templates" / "_environment.tpl").read_text(encoding="utf-8")


def test_only_what_the_package_needs_is_sent_to_the_build() -> None:
    lines = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").split()
    assert lines[0] == "*"
    sent = {line.removeprefix("!") for line in lines if line.startswith("!")}
    copied = {
        name for group in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE) for name in group.split()
    }
    assert sent == copied
    assert all((REPOSITORY / name).exists() for name in sent)
