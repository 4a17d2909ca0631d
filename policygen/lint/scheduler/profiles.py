"""The plugins of a profile that kube-scheduler refuses.

Source: pkg/scheduler/framework/runtime/framework.go, NewFramework, updatePluginList,
expandMultiPointPlugins (Kubernetes 1.36.3).
"""

from collections.abc import Iterator

from policygen.core.finding import Fault, Path
from policygen.core.versions import Version
from policygen.kubernetes.configurations import PluginSet, SchedulerProfileView
from policygen.lint.scheduler import terms

_MULTI = "multiPoint"
_SORT, _BIND = "PrioritySort", "DefaultBinder"
"""The in-tree plugins of two extension points; a profile needs at least one plugin at each."""
_SCORES = {
    "TaintToleration": 3, "NodeAffinity": 2, "NodeResourcesFit": 1, "VolumeBinding": 1, "PodTopologySpread": 2,
    "InterPodAffinity": 2, "NodeResourcesBalancedAllocation": 1, "ImageLocality": 1, "DynamicResources": 1,
}  # fmt: skip
"""The default plugins that score, in their order, with their weights."""


def faults(profile: SchedulerProfileView, version: Version) -> Iterator[Fault]:
    """Plugins listed twice or at a wrong extension point; profiles without binder or one queue sort."""
    for point, plugins in profile.plugins.items():
        seen = set()
        for i, plugin in enumerate(plugins.enabled):
            at: Path = ("plugins", point, "enabled", i, "name")
            if plugin.name in seen:
                yield (
                    at,
                    f"{plugin.name} is enabled twice, which is refused; remove one of the entries",
                )
            elif not terms.extends(plugin.name, point, version):
                yield (
                    at,
                    f"{plugin.name} cannot run at extension point {point}, which is refused; remove the plugin from {point}",
                )
            seen.add(plugin.name)
    enabled = {it.name for plugins in profile.plugins.values() for it in plugins.enabled}
    yield from _two_sorts(profile)
    if all(terms.in_tree(name) for name in enabled):
        yield from _negative_total(profile, version)
    if all(terms.in_tree(name) or name in terms.OTHERS for name in enabled):
        for point, name, what in (
            ("queueSort", _SORT, "no plugin sorts the waiting pods"),
            ("bind", _BIND, "no plugin binds pods"),
        ):
            sorters = _sorters(profile) if name == _SORT else []
            if not sorters and not _is_enabled(profile, point, name):
                own = profile.plugins.get(point, PluginSet()).disabled
                path: Path = ("plugins", point if own else _MULTI, "disabled")
                yield path, f"{name} is disabled, so {what}, which is refused; enable {name}"


def _two_sorts(profile: SchedulerProfileView) -> Iterator[Fault]:
    """A queue sort beside another one, such as Coscheduling beside PrioritySort."""
    sorters = _sorters(profile)
    if len(sorters) < 2:
        return
    other = next((name for name in sorters if name != _SORT), sorters[1])
    for point, plugins in profile.plugins.items():
        for i, plugin in enumerate(plugins.enabled):
            if plugin.name == other:
                off = next(name for name in sorters if name != other)
                path: Path = ("plugins", point, "enabled", i, "name")
                fault = f"{other} and {off} both sort the waiting pods, which is refused"
                listing = [
                    name
                    for name, it in profile.plugins.items()
                    if off in {one.name for one in it.enabled}
                ]
                remedy = (
                    f"remove {off} from {listing[0]}.enabled"
                    if listing
                    else f"add {off} to {_MULTI}.disabled"
                )
                yield path, f"{fault}; {remedy}"
                return


def _sorters(profile: SchedulerProfileView) -> list[str]:
    """The known plugins that sort the waiting pods."""
    own, multi = (profile.plugins.get(it, PluginSet()) for it in ("queueSort", _MULTI))
    found = {it.name: None for it in own.enabled if terms.sorts(it.name)}
    general = [] if _is_disabled(multi, _SORT) else [_SORT]
    general += [it.name for it in multi.enabled if terms.sorts(it.name)]
    found.update(dict.fromkeys(name for name in general if not _is_disabled(own, name)))
    return list(found)


def _negative_total(profile: SchedulerProfileView, version: Version) -> Iterator[Fault]:
    """A weight that makes the sum of the weights so far negative, if another plugin follows.

    Source: getValidScoreWeights; first the plugins of `score`, then those of `multiPoint`, also if
    `score` disables them.
    """
    score, multi = (profile.plugins.get(it, PluginSet()) for it in ("score", _MULTI))
    weights = {} if _is_disabled(multi, "*") else dict(_SCORES)
    weights = {name: it for name, it in weights.items() if not _is_disabled(multi, name)}
    weights.update({it.name: it.weight or 1 for it in multi.enabled})
    own = {it.name: it.weight or 1 for it in score.enabled}
    ordered = {**own, **{name: it for name, it in weights.items() if name not in own}}
    scored = [name for name in ordered if terms.extends(name, "score", version)]
    total = 0
    for name in scored[:-1]:
        total += ordered[name]
        if total < 0:
            point, listed = ("score", score) if name in own else (_MULTI, multi)
            index = next(i for i, it in enumerate(listed.enabled) if it.name == name)
            path: Path = ("plugins", point, "enabled", index, "weight")
            yield (
                path,
                f"weight {ordered[name]} of {name} is refused, because the total weight is negative; write 1 or more",
            )
            return


def misnamed(profile: SchedulerProfileView) -> Iterator[tuple[Path, str]]:
    """The path and name of each disabled plugin that no release and no known build has."""
    for point, plugins in profile.plugins.items():
        for i, plugin in enumerate(plugins.disabled):
            name = plugin.name
            if name != "*" and name not in terms.OTHERS and not terms.in_tree(name):
                yield ("plugins", point, "disabled", i, "name"), name


def _is_enabled(profile: SchedulerProfileView, point: str, name: str) -> bool:
    own, multi = (profile.plugins.get(it, PluginSet()) for it in (point, _MULTI))
    if any(it.name == name for it in own.enabled):
        return True
    if _is_disabled(own, name):
        return False
    return any(it.name == name for it in multi.enabled) or not _is_disabled(multi, name)


def _is_disabled(plugins: PluginSet, name: str) -> bool:
    return any(it.name in (name, "*") for it in plugins.disabled)
