"""The controllers as a cluster shows them: their Deployments and the ConfigMaps that these mount."""

from __future__ import annotations

from typing import Any

from .client import Object

KUEUE_VERSION = "v0.19.2"
VOLCANO_VERSION = "v1.14.1"


def deployments(*, kueue: str = KUEUE_VERSION, volcano: str = VOLCANO_VERSION) -> list[Object]:
    """Kueue's and Volcano's, without pods, of these versions."""
    made = [
        _deployment(
            "kueue-controller-manager",
            "kueue-system",
            f"registry.k8s.io/kueue/kueue:{kueue}",
            {"app.kubernetes.io/name": "kueue", "control-plane": "controller-manager"},
            "kueue-manager-config",
        )
    ]
    for name, image in {
        "volcano-scheduler": "vc-scheduler",
        "volcano-controllers": "vc-controller-manager",
        "volcano-admission": "vc-webhook-manager",
    }.items():
        config = "volcano-scheduler-configmap" if image == "vc-scheduler" else ""
        made.append(
            _deployment(
                name,
                "volcano-system",
                f"docker.io/volcanosh/{image}:{volcano}",
                {"app": name},
                config,
            )
        )
    return made


def _deployment(
    name: str, namespace: str, image: str, labels: dict[str, str], config_map: str
) -> Object:
    spec: dict[str, Any] = {"containers": [{"name": "manager", "image": image}]}
    if config_map:
        spec["volumes"] = [{"name": "config", "configMap": {"name": config_map}}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
