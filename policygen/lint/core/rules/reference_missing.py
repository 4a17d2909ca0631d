"""A pod uses a ConfigMap, Secret, ServiceAccount or Service that the manifests do not have."""

from collections.abc import Iterator
from typing import Any

from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.missing_namespaces import missing_namespaces
from policygen.lint.core.missing_references import (
    MissingObject,
    holds_registries,
    is_pull_secret,
    known_objects,
    missing_objects,
)
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_MADE = frozenset(
    {
        "default", "extension-apiserver-authentication", "istio-ca-root-cert", "kube-root-ca.crt",
        "openshift-service-ca.crt",
    }
)  # fmt: skip
"""Names of objects that controllers create."""


def check(facts: Facts) -> Hits:
    """Without its ServiceAccount, the API server refuses a pod; without the others, containers do not start.

    Checks complete manifests, and only kinds of which they have an object in the namespace. Skips names
    that an operator can use for an object that it creates.
    Source: pkg/kubelet/kubelet_pods.go, makeEnvironmentVariables; the admission plugin ServiceAccount.
    """
    if facts.state is not None and facts.state.seen is not None:
        return
    absent = facts.derive(missing_namespaces) if "namespace-missing" in facts.run else {}
    for it in facts.derive(missing_objects):
        if it.similar and "reference-misspelt" in facts.run:
            continue
        namespaces = [it.first.owner.namespace, *(each.namespace for each in it.elsewhere)]
        if not absent.keys().isdisjoint(namespaces) or _is_made(facts.cluster, it):
            continue
        yield Hit(RULE, f"{it.message}; {_advice(it)}", it.first.at, it.related)


def _advice(it: MissingObject) -> str:
    create = f"create it in namespace {it.first.owner.namespace or 'default'}"
    if it.elsewhere:
        create += f", because pods cannot use that of namespace {it.elsewhere[0].namespace}"
    return (
        f"{create}, or write an existing name; {suggest(it.first.name, it.others)}"
        if it.others
        else create
    )


def _is_made(cluster: Cluster, it: MissingObject) -> bool:
    """Whether another program can create the object."""
    reference = it.first
    name, namespace = reference.name, reference.owner.namespace
    if name in _MADE:
        return True
    if is_pull_secret(reference):  # administrators often create these
        secrets = cluster.derive(known_objects).get(("Secret", namespace), {})
        return not any(map(holds_registries, secrets.values()))
    texts = cluster.derive(_texts_of_operators)
    return any(
        (space, name[:end]) in texts for space in ("", namespace) for end in range(1, len(name) + 1)
    )


def _texts_of_operators(cluster: Cluster) -> frozenset[tuple[str, str]]:
    """All texts in objects of other programs, such as an ExternalSecret, with the namespace of the object."""
    return frozenset(
        (it.namespace, text)
        for it in cluster.objects
        if _is_of_operator(it) and (it.group, it.kind) not in cluster.tables
        for text in _texts(it.data)
    )


def _is_of_operator(it: Object) -> bool:
    return it.group.endswith(".x-k8s.io") or ("." in it.group and not it.group.endswith(".k8s.io"))


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for it in data.values() if isinstance(data, dict) else data:
            yield from _texts(it)


RULE = ObjectRule(
    "reference-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Create the object in the namespace of the pod, or write the name of an existing one.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE, Need.BUILT}),
)
