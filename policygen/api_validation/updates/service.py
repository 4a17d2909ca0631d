"""Changes of a Service that the API server refuses.

Source: ValidateServiceUpdate of pkg/apis/core/validation of k8s.io/kubernetes 1.36.3.
"""

from collections.abc import Iterator
from typing import Any

from policygen.api_validation.fields import mapping
from policygen.api_validation.updates.states import Data
from policygen.api_validation.updates.update import RECREATE, ObjectUpdate, RefusedChange


def service(update: ObjectUpdate) -> Iterator[RefusedChange]:
    """The refusals about a Service."""
    old, new = (mapping(it, "spec") for it in (update.old, update.new))
    types = {_type(old), _type(new)}
    if types == {"LoadBalancer"}:
        why = "loadBalancerClass of a Service with type LoadBalancer is immutable"
        yield from update.refused(("spec", "loadBalancerClass"), why)
    if "ExternalName" in types:
        return
    ip, before = new.get("clusterIP"), old.get("clusterIP")
    if ip and before and ip != before:
        why = "clusterIP is immutable, also to or from None"
        yield RefusedChange(("spec", "clusterIP"), why, RECREATE)
    elif before != "None" and _first(old) != _first(new):
        why = "the first entry of ipFamilies is immutable"
        yield RefusedChange(("spec", "ipFamilies"), why, RECREATE)


def _type(spec: Data) -> str:
    return str(spec.get("type") or "ClusterIP")


def _first(spec: Data) -> Any:
    families = spec.get("ipFamilies")
    return families[0] if isinstance(families, list) and families else None
