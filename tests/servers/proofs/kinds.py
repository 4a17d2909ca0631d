"""CRDs of other projects, installed for a while and without validation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers.client import Object
from tests.servers.cluster import Cluster
from tests.servers.proofs.examples import conditions

CRDS = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
OPEN: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@contextmanager
def known(cluster: Cluster, api_version: str, kind: str, plural: str) -> Iterator[None]:
    """Servers have the namespaced kind inside, and no more once it ends."""
    group, version = api_version.split("/")
    name = f"{plural}.{group}"
    served = {"name": version, "served": True, "storage": True, "subresources": {"status": {}}}
    approved = {"api-approved.kubernetes.io": "unapproved, for tests"}
    cluster.create(
        {
            "apiVersion": CRDS[0],
            "kind": CRDS[1],
            "metadata": {"name": name, "annotations": approved},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural},
                "versions": [{**served, "schema": {"openAPIV3Schema": OPEN}}],
            },
        }
    )
    cluster.until(
        "the kind is served", lambda: "Established" in conditions(cluster.get(*CRDS, name))
    )
    try:
        yield
    finally:
        cluster.delete(*CRDS, name)
        cluster.until("the kind is gone", lambda: name not in _names(cluster))


def _names(cluster: Cluster) -> set[str]:
    return {it["metadata"]["name"] for it in cluster.objects(*CRDS)}
