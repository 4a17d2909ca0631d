"""The names of schedulers that pods can name."""

from difflib import get_close_matches
from typing import Final

from policygen.core.names import DEFAULT_SCHEDULER
from policygen.kubernetes.cluster import Cluster

VOLCANO: Final = "volcano"
OTHERS: Final = frozenset(
    {
        "godel-scheduler", "hami-scheduler", "kai-scheduler", "koord-scheduler", "kube-batch",
        "runai-scheduler", "scheduler-plugins-scheduler", "stork", "yunikorn",
    }
)  # fmt: skip
"""Schedulers of other projects, which no KubeSchedulerConfiguration names."""
_CUTOFF = 0.8
_OF_PROGRAMS: Final = {"volcano-scheduler": VOLCANO, "kube-scheduler": DEFAULT_SCHEDULER}
"""The schedulers of programs: users write the name of the program."""


def profile_names(cluster: Cluster) -> frozenset[str]:
    """The schedulerNames of all profiles, and the default one; use it with `cluster.derive`."""
    named = (
        it.scheduler_name
        for each in cluster.scheduler_configurations
        for it in each.fields.profiles
    )
    return frozenset({DEFAULT_SCHEDULER, *named})


def meant_scheduler(cluster: Cluster, name: str) -> str:
    """The known scheduler that a misspelled name means; empty: it is known, or like no known one.

    No scheduler handles an unknown name: the pod gets no event and no error. Source:
    pkg/scheduler/eventhandlers.go, responsibleForPod; volcano-sh/volcano#604.
    """
    known = {VOLCANO, *cluster.derive(profile_names)}
    if not name or name in known or name in OTHERS:
        return ""
    if name.lower() in _OF_PROGRAMS:
        return _OF_PROGRAMS[name.lower()]
    found = get_close_matches(name.lower(), sorted(known), n=1, cutoff=_CUTOFF)
    return "" if not found or _differ_by_number(name.lower(), found[0]) else found[0]


def _differ_by_number(name: str, other: str) -> bool:
    """Whether parts with digits differ, which can be intended: `gpu-a100` and `gpu-h100`, `pack` and `pack-2`."""
    parts = {*name.split("-")} ^ {*other.split("-")}
    return any(char.isdigit() for part in parts for char in part)
