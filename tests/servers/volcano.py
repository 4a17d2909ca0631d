"""What Volcano needs to run without a cluster network: CRDs and webhook configurations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from .build import Built
from .client import Object

NAMESPACE = "volcano-system"
UNSERVED = ("kube-system", NAMESPACE)
CONFIGURATION = "installer/helm/chart/volcano/config/volcano-scheduler.conf"
CRD_FOLDERS = ("config/crd/volcano/bases", "config/crd/jobflow/bases")


@dataclass(frozen=True)
class Hook:
    """One admission path, registered as Volcano's chart registers it."""

    path: str
    name: str
    group: str
    version: str
    operations: tuple[str, ...]
    every_namespace: bool = False

    @property
    def resource(self) -> str:
        return self.path.split("/")[1]

    @property
    def mutates(self) -> bool:
        return self.path.endswith("/mutate")


_CHANGE = ("CREATE", "UPDATE")
HOOKS = (
    Hook("/jobs/mutate", "mutatejob", "batch.volcano.sh", "v1alpha1", ("CREATE",)),
    Hook("/jobs/validate", "validatejob", "batch.volcano.sh", "v1alpha1", _CHANGE),
    Hook(
        "/podgroups/validate", "validatepodgroup", "scheduling.volcano.sh", "v1beta1", ("CREATE",)
    ),
    Hook("/queues/mutate", "mutatequeue", "scheduling.volcano.sh", "v1beta1", ("CREATE",)),
    Hook(
        "/queues/validate",
        "validatequeue",
        "scheduling.volcano.sh",
        "v1beta1",
        (*_CHANGE, "DELETE"),
    ),
    Hook(
        "/hypernodes/validate",
        "validatehypernodes",
        "topology.volcano.sh",
        "v1alpha1",
        _CHANGE,
        every_namespace=True,
    ),
    Hook("/cronjobs/validate", "validatecronjob", "batch.volcano.sh", "v1alpha1", _CHANGE),
)
"""The chart's default `enabled_admissions` of 1.14."""


def crds(built: Built) -> Iterator[Object]:
    for folder in CRD_FOLDERS:
        for path in sorted(built.asset(folder).glob("*.yaml")):
            yield yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)


def webhooks(webhook: str, ca_bundle: str) -> Iterator[Object]:
    """One configuration for each hook, under the name that the webhook-manager looks for."""
    for hook in HOOKS:
        entry: Object = {
            "name": f"{hook.name}.volcano.sh",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": webhook + hook.path, "caBundle": ca_bundle},
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "rules": [
                {
                    "apiGroups": [hook.group],
                    "apiVersions": [hook.version],
                    "operations": list(hook.operations),
                    "resources": [hook.resource],
                    "scope": "*",
                }
            ],
            "sideEffects": "NoneOnDryRun",
            "timeoutSeconds": 10,
        }
        if not hook.every_namespace:
            entry["namespaceSelector"] = {
                "matchExpressions": [
                    {
                        "key": "kubernetes.io/metadata.name",
                        "operator": "NotIn",
                        "values": list(UNSERVED),
                    }
                ]
            }
        kind = "Mutating" if hook.mutates else "Validating"
        yield {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": f"volcano-admission-service{hook.path.replace('/', '-')}"},
            "webhooks": [entry],
        }
