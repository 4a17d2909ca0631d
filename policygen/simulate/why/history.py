"""Past preemptions of a workload, from the conditions of Kueue's object.

Source: pkg/scheduler/preemption of Kueue 0.19.2, preemptionMessage.
"""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mappings, text

_UID = re.compile(r"\(UID: ([^,)]*), JobUID: ([^)]*)\)")
_PATHS = re.compile(r"preemptor path: ([^;]*); preemptee path: (.*)")


class Preempted(Struct, frozen=True):
    """A preemption of the past."""

    by: str
    """Namespace and name of the preemptor, or its UID if it does not exist any more."""
    reason: str
    """The reason of Kueue: `InClusterQueue`, `InCohortReclamation` and others."""
    message: str
    at: str
    """As Kubernetes writes times."""
    path: str = ""
    """The queue of the preemptor with its cohorts: `/root/nlp`."""


def preempted(workload: Object, names: Mapping[str, str]) -> Iterator[Preempted]:
    """The preemptions of a Workload. `names` has the names of workloads by UID."""
    for it in mappings(workload.data.get("status"), "conditions"):
        if text(it, "type") != "Preempted" or text(it, "status") not in ("True", "False"):
            continue
        message = text(it, "message")
        uid = _UID.search(message)
        if uid is None:
            continue
        paths = _PATHS.search(message)
        yield Preempted(
            names.get(uid.group(1), uid.group(1)),
            text(it, "reason"),
            message,
            text(it, "lastTransitionTime"),
            paths.group(1) if paths else "",
        )
