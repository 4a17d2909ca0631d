"""What Kueue needs to run without a cluster network: CRDs, webhooks, its configuration."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

import yaml

from .build import Built
from .client import Object

NAMESPACE = "kueue-system"
UNSERVED = ("kube-system", NAMESPACE)
CONFIGURATION = "config/components/manager/controller_manager_config.yaml"
CONVERTED = frozenset(
    {"localqueues", "clusterqueues", "cohorts", "workloads", "multikueueclusters"}
)
"""The CRDs that Kueue's own kustomization gives a conversion webhook (not resourceflavors)."""
QUICK = {"qps": 500, "burst": 1000}
"""Requests a second, so that tests do not wait for Kueue's limit of 50."""
GROUPS = frozenset({"", "apps", "batch", "kueue.x-k8s.io"})
"""API groups that this control plane serves; webhooks for other groups are omitted."""


def crds(built: Built, webhook: str, ca_bundle: str) -> Iterator[Object]:
    """Kueue's CRDs, their conversion pointed at `webhook` (a URL without path)."""
    for path in sorted(built.asset("config/components/crd/bases").glob("*.yaml")):
        crd: Object = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
        if crd["spec"]["names"]["plural"] in CONVERTED:
            crd["spec"]["conversion"] = {
                "strategy": "Webhook",
                "webhook": {
                    "clientConfig": {"url": f"{webhook}/convert", "caBundle": ca_bundle},
                    "conversionReviewVersions": ["v1"],
                },
            }
        yield crd


def webhooks(
    built: Built, webhook: str, ca_bundle: str, groups: AbstractSet[str] = GROUPS
) -> Iterator[Object]:
    """Kueue's two webhook configurations as its kustomization would install them."""
    manifests = built.asset("config/components/webhook/manifests.yaml").read_bytes()
    for configuration in yaml.load_all(manifests, Loader=yaml.CSafeLoader):
        kept = []
        for hook in configuration["webhooks"]:
            of = {group for rule in hook["rules"] for group in rule["apiGroups"]}
            if not of <= groups:
                continue
            path = hook["clientConfig"]["service"]["path"]
            hook["clientConfig"] = {"url": webhook + path, "caBundle": ca_bundle}
            if "kueue.x-k8s.io" not in of:
                hook["namespaceSelector"] = {
                    "matchExpressions": [
                        {
                            "key": "kubernetes.io/metadata.name",
                            "operator": "NotIn",
                            "values": list(UNSERVED),
                        }
                    ]
                }
            kept.append(hook)
        configuration["webhooks"] = kept
        configuration["metadata"]["name"] = f"kueue-{configuration['metadata']['name']}"
        yield configuration


def adjusted(
    configuration: Object, *, webhook_port: int, health_port: int, certificates: Path
) -> Object:
    """The same configuration, changed only in what this environment needs."""
    mine = dict(configuration)
    mine["health"] = {
        **(mine.get("health") or {}),
        "healthProbeBindAddress": f"127.0.0.1:{health_port}",
    }
    mine["health"].pop("readinessEndpointName", None)
    mine["metrics"] = {**(mine.get("metrics") or {}), "bindAddress": "0"}
    mine["webhook"] = {
        "host": "127.0.0.1",
        "port": webhook_port,
        "certDir": str(certificates),
    }
    mine["leaderElection"] = {"leaderElect": False}
    mine["internalCertManagement"] = {"enable": False}
    mine["namespace"] = NAMESPACE
    mine["clientConnection"] = {**(mine.get("clientConnection") or {}), **QUICK}
    mine.pop("pprofBindAddress", None)
    # The visibility server needs an aggregated API and its own fixed port.
    mine["featureGates"] = {**(mine.get("featureGates") or {}), "VisibilityOnDemand": False}
    return mine


def private_etc(folder: Path, pair: Path) -> Path:
    """A folder to put over /etc: Kueue insists on /etc/kueue/metrics/certs."""
    certificates = folder / "kueue" / "metrics" / "certs"
    certificates.mkdir(parents=True, exist_ok=True)
    for name in ("tls.crt", "tls.key"):
        shutil.copyfile(pair / name, certificates / name)
    return folder
