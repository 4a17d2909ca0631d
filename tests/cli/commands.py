"""Specs and helpers for tests that run a command."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
ARTICLES = [str(path) for path in sorted((ROOT / "examples" / "articles").glob("*.yaml"))]

SPEC = """\
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata:
  name: p
spec:
  nodeSelector:
    pool: p
  gpu:
    product: NVIDIA-A100-SXM4-80GB
  capacity:
    nodes: 8
    nodeType: a2-ultragpu-8g
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata:
  name: a
spec:
  namespaces:
    - name: a
  quotas:
    - pool: p
      guarantee: 20
"""


def kinds(text):
    return [document["kind"] for document in yaml.safe_load_all(text)]
