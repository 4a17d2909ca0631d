"""The labels of nodes that a pod names: what it requires, what it prefers, and by which it is spread."""

from collections.abc import Iterator

from msgspec import Struct

from policygen.core.finding import Path
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.pod_terms import PREFERRED
from policygen.kubernetes.untyped import mappings, numbered, text
from policygen.kubernetes.workloads import PodSpec

_REQUIRING = ("In", "Exists", "Gt", "Lt")
"""Operators that a node without the label does not match."""


class LabelUse(Struct, frozen=True, eq=False):
    """A label that a pod names, at a place below its spec."""

    path: Path
    key: str
    required: bool
    """Whether the pod fits no node without the label; for an anti-affinity, whether it is a required one."""

    @property
    def field(self) -> str:
        """The field of the spec, or the kind of affinity."""
        return str(self.path[1] if self.path[0] == "affinity" else self.path[0])


def label_uses(spec: PodSpec) -> Iterator[LabelUse]:
    """All of them, without those in one of several terms of a required node affinity."""
    for key in spec.node_selector:
        yield LabelUse(("nodeSelector", key), key, required=True)
    for i, it in enumerate(spec.topology_spread_constraints):
        required = it.get("whenUnsatisfiable") == "DoNotSchedule"
        yield LabelUse(
            ("topologySpreadConstraints", i, "topologyKey"),
            text(it, "topologyKey"),
            required=required,
        )
    if spec.affinity:
        yield from _of_affinity(spec)


def _of_affinity(spec: PodSpec) -> Iterator[LabelUse]:
    for kind in ("podAffinity", "podAntiAffinity"):
        for when, inside in ((REQUIRED, ()), (PREFERRED, ("podAffinityTerm",))):
            for i, term in numbered(spec.affinity, kind, when):
                steps = (*inside, "topologyKey")
                path: Path = ("affinity", kind, when, i, *steps)
                yield LabelUse(path, text(term, *steps), required=when == REQUIRED)
    field = ("affinity", "nodeAffinity")
    terms = mappings(spec.affinity, "nodeAffinity", REQUIRED, "nodeSelectorTerms")
    if len(terms) == 1:
        at: Path = (*field, REQUIRED, "nodeSelectorTerms", 0)
        yield from _of_expressions(terms[0], at, required=True)
    for i, term in numbered(spec.affinity, "nodeAffinity", PREFERRED):
        at = (*field, PREFERRED, i, "preference")
        yield from _of_expressions(term.get("preference"), at, required=False)


def _of_expressions(term: object, at: Path, *, required: bool) -> Iterator[LabelUse]:
    for i, it in numbered(term, "matchExpressions"):
        if it.get("operator") in _REQUIRING:
            path = (*at, "matchExpressions", i, "key")
            yield LabelUse(path, text(it, "key"), required=required)
