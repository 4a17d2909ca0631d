"""Pods name a scheduler that does not exist, and no pod uses a scheduler profile of the input."""

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

from policygen.core.finding import At
from policygen.core.names import DEFAULT_SCHEDULER
from policygen.core.quoting import quoted, some
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.schedulers import OTHERS, VOLCANO, meant_scheduler, profile_names
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.scheduler.scoring import ScoredProfile, gpu_schedulers, profiles


def check(facts: Facts) -> Hits:
    """No scheduler handles an unknown name: the pods get no event and no error.

    Checks only manifests, because the files of schedulers on a cluster are not read. Skips input in
    which all profiles are used: then another program can have the name.
    Source: pkg/scheduler/eventhandlers.go, responsibleForPod.
    """
    for name, (users, places) in facts.cluster.derive(_unserved).items():
        profile = _nearest(name, facts.cluster.derive(_unused))
        or_pods = f", or schedulerName: {profile.name} in the pod templates"
        yield Hit(
            RULE,
            f"{some(users, 'other workload')} {'names' if len(users) == 1 else 'name'} scheduler "
            f"{quoted(name)}, which does not exist, so the pods stay Pending without an event; write "
            f"schedulerName: {name} in profile {profile.name}, which no pod with GPUs uses"
            f"{'' if profile.name == DEFAULT_SCHEDULER else or_pods}",
            profile.at / "schedulerName",
            places,
        )


def _nearest(name: str, unused: Iterable[ScoredProfile]) -> ScoredProfile:
    return max(unused, key=lambda it: SequenceMatcher(None, it.name, name).ratio())


def reported(cluster: Cluster) -> frozenset[str]:
    """The profiles for which a scheduler is missing; use it with `cluster.derive`."""
    unused = cluster.derive(_unused)
    return frozenset(_nearest(it, unused).name for it in cluster.derive(_unserved))


def _unserved(cluster: Cluster) -> Mapping[str, tuple[list[str], tuple[At, ...]]]:
    """The workloads that name each unknown scheduler, with the places of the name."""
    if cluster.seen is not None or not cluster.derive(_unused):
        return {}
    known = cluster.derive(profile_names) | OTHERS | {VOLCANO}
    found: dict[str, dict[str, At]] = {}
    for workload in cluster.workloads:
        for template in workload.templates:
            name = workload.scheduler_name(template)
            if name and name not in known and not meant_scheduler(cluster, name):
                found.setdefault(name, {})[str(workload)] = workload.scheduler_at(template)
    return {name: ([*users], tuple(users.values())) for name, users in found.items()}


def _unused(cluster: Cluster) -> list[ScoredProfile]:
    """The profiles that no pod uses. The default one serves pods without a name: it must pack GPUs."""
    named = {it.scheduler_name(template) for it in cluster.workloads for template in it.templates}
    of_gpus = cluster.derive(gpu_schedulers)
    return [
        it
        for it in profiles(cluster)
        if it.name not in (of_gpus if it.name == DEFAULT_SCHEDULER else named)
        and (it.name != DEFAULT_SCHEDULER or it.scoring.packs)
    ]


RULE = ObjectRule(
    "scheduler-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write one name in the profile and in the pods.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
    reads=KINDS,
)
