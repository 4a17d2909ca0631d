"""Remedies for queues that do not lead to the next finding."""

import re
from pathlib import Path

import pytest

from tests.lint.linting import findings

FOLDER = Path(__file__).parent / "batch_manifests"
KUEUE, TEXT = ((FOLDER / f"{it}.yaml").read_text("utf-8") for it in ("kueue", "volcano"))
WITH_CAPACITY = "      - name: capacity\n"
OF_WEIGHTS = re.sub(r"deserved: \{.*\}", "weight: 1", TEXT)
UNUSED = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec: {nodeLabels: {pool: h100}}
"""
GUARANTEE = "guarantee: {resource: {nvidia.com/gpu: 32}}"


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (TEXT.replace(WITH_CAPACITY, ""), "add capacity to the first tier"),
        (OF_WEIGHTS.replace(WITH_CAPACITY, ""), "add proportion to the first tier"),
        (
            KUEUE.replace("hostname: n2, pool: a100", "hostname: n2, pool: h100") + UNUSED,
            "write flavor h100, which no queue uses, in ClusterQueue",
        ),
        (
            re.sub(r"deserved: \{.*\}", GUARANTEE, TEXT, count=1),
            "lower the guarantee to at most 24, because the capability is 24, and write it in deserved too",
        ),
    ],
)
def test_remedy(tmp_path, text, remedy):
    found = findings(tmp_path, text)
    assert any(remedy in message for _, message in found), found
