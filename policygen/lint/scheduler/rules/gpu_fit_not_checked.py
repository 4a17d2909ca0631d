"""A profile of kube-scheduler does not check whether a node has enough free GPUs."""

from policygen.core.finding import At
from policygen.core.names import GPU
from policygen.kubernetes.accelerators import is_one
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.scheduler.scoring import FIT, ScoredProfile, profiles


def check(facts: Facts) -> Hits:
    """Skips files with extenders, which can check the GPUs instead.

    Source: pkg/scheduler/framework/plugins/noderesources/fit.go, fitsRequest (Kubernetes 1.36.3).
    """
    for profile in profiles(facts.cluster):
        if profile.owner.object.data.get("extenders"):
            continue
        at, resource = _ignored(profile)
        if at is not None:
            yield Hit(
                RULE,
                f"profile {profile.name} does not check free {resource}, so it places more pods on a node than the node "
                f"has GPUs, and the kubelet refuses them; remove {_entry(at)}",
                at,
            )


def _ignored(profile: ScoredProfile) -> tuple[At | None, str]:
    """The place that turns off the check, and the resource."""
    for i, plugin in enumerate(profile.profile.plugin_config):
        args = plugin.args if plugin.name == FIT else {}
        place = profile.at.to("pluginConfig", i, "args")
        for field, suffix in (("ignoredResources", ""), ("ignoredResourceGroups", "/gpu")):
            names = args.get(field)
            for j, name in enumerate(names if isinstance(names, list) else ()):
                if isinstance(name, str) and is_one(name + suffix):
                    return place.to(field, j), f"{name}{'/*' if suffix else ''}"
    plugins = profile.profile.plugins.get("filter")
    if plugins is not None and not any(it.name == FIT for it in plugins.enabled):
        for j, it in enumerate(plugins.disabled):
            if it.name in (FIT, "*"):
                return profile.at.to("plugins", "filter", "disabled", j), GPU
    return None, ""


def _entry(at: At) -> str:
    return f"this entry from {at.path[-2]}"


RULE = ObjectRule(
    "gpu-fit-not-checked",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Remove GPUs from ignoredResources and ignoredResourceGroups, and keep the filter NodeResourcesFit.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
)
