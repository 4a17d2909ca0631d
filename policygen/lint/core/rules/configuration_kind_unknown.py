"""A configuration file has no kind or API group that its controller knows."""

from policygen.kubernetes.cluster import KUEUE_CONFIG, SCHEDULER_CONFIG
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_PROGRAMS = {
    (KUEUE_CONFIG, "Configuration"): "Kueue",
    (SCHEDULER_CONFIG, "KubeSchedulerConfiguration"): "kube-scheduler",
}


def check(facts: Facts) -> Hits:
    """The controller exits at startup, because the kind is not registered. Other rules check the fields.

    Source: k8s.io/apimachinery, pkg/runtime/scheme.go; run on kube-scheduler 1.36.3.
    """
    for (group, kind), program in _PROGRAMS.items():
        for obj in facts.cluster.of(group, kind):
            for key, found, expected in (
                ("kind", obj.data.get("kind"), kind),
                ("apiVersion", obj.data.get("apiVersion"), obj.api_version),
            ):
                if found != expected:
                    fault = f'is "{found}"' if found else "is not set"
                    message = (
                        f"{program} does not start, because {key} {fault}; write {key}: {expected}"
                    )
                    yield Hit(RULE, message, obj.at / key if key in obj.data else obj.at)


RULE = ObjectRule(
    "configuration-kind-unknown",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the apiVersion and kind of the controller's configuration.",
    judges=tuple(kind for _, kind in _PROGRAMS),
    check=check,
)
