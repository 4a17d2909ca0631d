"""Fields that older API versions name differently: read as the newest, shown as written.

Source: apis/kueue/v1beta1/*_conversion.go of kubernetes-sigs/kueue v0.15 to v0.19.
"""

from collections.abc import Mapping
from typing import Any

from policygen.cluster.object import Object
from policygen.finding import Path

_KUEUE = "kueue.x-k8s.io"
_WORDS = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}


def canonical(it: Object) -> Mapping[str, Any]:
    """The data of an object with the names of the newest version."""
    if (it.group, it.version) != (_KUEUE, "v1beta1") or it.kind != "ClusterQueue":
        return it.data
    spec = it.data.get("spec")
    if not isinstance(spec, dict):
        return it.data
    spec = dict(spec)
    if "cohort" in spec:
        spec["cohortName"] = spec.pop("cohort")
    checks = spec.pop("admissionChecks", None)
    if isinstance(checks, list) and checks:
        named = [{"name": check} for check in checks]
        spec["admissionChecksStrategy"] = {"admissionChecks": named}
    fungibility = spec.get("flavorFungibility")
    if isinstance(fungibility, dict):
        spec["flavorFungibility"] = {
            key: _WORDS.get(value, value) if isinstance(value, str) else value
            for key, value in fungibility.items()
        }
    return {**it.data, "spec": spec}


def written(it: Object, path: Path) -> Path:
    """A path of the newest version as this object has it."""
    if (it.group, it.version) != (_KUEUE, "v1beta1") or it.kind != "ClusterQueue":
        return path
    if path[:2] == ("spec", "cohortName"):
        return ("spec", "cohort", *path[2:])
    spec = it.data.get("spec")
    strategy = ("spec", "admissionChecksStrategy", "admissionChecks")
    if path[:3] == strategy and isinstance(spec, dict) and spec.get("admissionChecks"):
        return ("spec", "admissionChecks", *path[3:4])
    return path
