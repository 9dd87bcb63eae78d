"""The Terraform files, as text: they parse, what they name is there, and they fit the chart and the queue."""

from __future__ import annotations

import re
from typing import Any

import hcl2
import yaml
from helm_python import Chart

from tests.helm.everything import EVERYTHING
from tests.repository import REPOSITORY

FILES = sorted((REPOSITORY / "infra" / "terraform").glob("*.tf"))
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
CHART = REPOSITORY / "helm" / "suphx"


def blocks(kind: str) -> dict[str, dict[str, Any]]:
    """Return blocks by address: resources ``type.name``, data ``data.type.name``, others ``name``."""
    found: dict[str, dict[str, Any]] = {}
    for path in FILES:
        for block in hcl2.loads(path.read_text(encoding="utf-8")).get(kind, []):
            for first, body in block.items():
                if kind in ("resource", "data"):
                    prefix = "data." if kind == "data" else ""
                    found |= {f"{prefix}{_bare(first)}.{_bare(name)}": inner for name, inner in body.items()}
                else:
                    found[_bare(first)] = body
    return found


def _bare(text: Any) -> str:
    return str(text).strip('"')


def test_the_bucket_is_versioned_encrypted_private_and_cleaned_up() -> None:
    resources = blocks("resource")
    versioning = resources["aws_s3_bucket_versioning.suphx"]["versioning_configuration"][0]
    assert _bare(versioning["status"]) == "Enabled"
    encryption = resources["aws_s3_bucket_server_side_encryption_configuration.suphx"]["rule"][0]
    assert _bare(encryption["apply_server_side_encryption_by_default"][0]["sse_algorithm"]) == "aws:kms"
    private = resources["aws_s3_bucket_public_access_block.suphx"]
    switches = ("block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets")
    assert all(private[switch] is True for switch in switches)
    rules = {_bare(rule["id"]): rule for rule in resources["aws_s3_bucket_lifecycle_configuration.suphx"]["rule"]}
    everything, checkpoints = rules["deleted"], rules["deleted-checkpoints"]
    assert {"noncurrent_version_expiration", "abort_incomplete_multipart_upload"} <= everything.keys()
    days = {name: blocks("variable")[name]["default"] for name in ("checkpoint_noncurrent_days", "noncurrent_days")}
    assert 7 <= days["checkpoint_noncurrent_days"] < days["noncurrent_days"], "results and games are there too"
    kept = checkpoints["noncurrent_version_expiration"][0]["noncurrent_days"]
    assert _bare(kept) == "${var.checkpoint_noncurrent_days}"
    folder = _bare(checkpoints["filter"][0]["prefix"])
    outputs = (REPOSITORY / "infra" / "terraform" / "outputs.tf").read_text(encoding="utf-8")
    assert f"/{folder.removesuffix('/')}" in outputs, "not where runs store their checkpoints"


def test_roles_are_for_the_service_accounts_of_the_chart() -> None:
    with Chart.load(CHART) as chart:
        text = chart.render(EVERYTHING, name="suphx")["suphx/templates/access/service_accounts.yaml"]
    made = {one["metadata"]["name"] for one in yaml.safe_load_all(text) if one}
    accounts = {name.replace("${var.release}", "suphx") for name in re.findall(r'"(\$\{var.release\}-\w+)"', TEXT)}
    assert accounts == made - {"suphx-launcher", "suphx-submitter", "suphx-worker"}  # which use no bucket


def test_pools_are_those_of_the_queue() -> None:
    text = (REPOSITORY / "k8s" / "queue" / "flavors.yaml").read_text(encoding="utf-8")
    flavors = {one["metadata"]["name"]: one["spec"] for one in yaml.safe_load_all(text)}
    for name in ("system", "spot", "gpu"):
        pool, flavor = blocks("resource")[f"aws_eks_node_group.{name}"], flavors[f"suphx-{name}"]
        labels = {_bare(key): _bare(value) for key, value in pool["labels"].items()}
        assert labels == flavor["nodeLabels"]
        taints = {_bare(taint["key"]) for taint in pool.get("taint", [])}
        assert taints == {toleration["key"] for toleration in flavor.get("tolerations", [])}
    assert _bare(blocks("resource")["aws_eks_node_group.spot"]["capacity_type"]) == "SPOT"
