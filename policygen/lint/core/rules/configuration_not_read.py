"""The ConfigMap of Volcano's scheduler or of Kueue has the configuration under a key that is not read."""

from collections.abc import Callable
from typing import NamedTuple

from policygen.core.quoting import quoted
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


class _File(NamedTuple):
    """The file of a controller, as its charts mount it."""

    config_map: str
    """The end of the name of the ConfigMap."""
    key: str
    looks_like: Callable[[str], bool]
    effect: str
    """What the controller does without it."""


_FILES = (
    _File(
        "scheduler-configmap",
        "volcano-scheduler.conf",
        lambda text: "tiers:" in text and "actions:" in text,
        "Volcano's scheduler uses its built-in configuration",
    ),
    _File(
        "manager-config",
        "controller_manager_config.yaml",
        lambda text: "config.kueue.x-k8s.io/" in text,
        "Kueue does not find its configuration",
    ),
)


def check(facts: Facts) -> Hits:
    """The charts of both controllers mount this key, and start the controller with its path.

    If a workload of the input names the key, it mounts the ConfigMap in another way.
    Source: pkg/scheduler/scheduler.go, loadSchedulerConf, and installer/helm of Volcano 1.14.1; charts/kueue of
    Kueue 0.19.2.
    """
    for entry in facts.cluster.config_maps:
        for file in _FILES:
            if not entry.name.endswith(file.config_map) or file.key in entry.fields.data:
                continue
            for key, text in entry.fields.data.items():
                if file.looks_like(text) and not any(
                    key in str(it.spec) for it in facts.cluster.workloads
                ):
                    yield Hit(
                        RULE,
                        f"{entry} has the configuration under the key {quoted(key)} instead of {file.key}, so "
                        f"{file.effect}; write {file.key}",
                        entry.at.to("data", key).on_key(),
                    )


RULE = ObjectRule(
    "configuration-not-read",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the configuration under the key that the charts of the controller mount.",
    judges=("ConfigMap",),
    check=check,
    reads=KINDS,
)
