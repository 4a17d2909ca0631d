"""The plugins of a profile that kube-scheduler refuses.

Source: pkg/scheduler/framework/runtime/framework.go, NewFramework, updatePluginList,
expandMultiPointPlugins (Kubernetes 1.36.3).
"""

from collections.abc import Iterator

from policygen.core.finding import Fault, Path
from policygen.kubernetes.configurations import PluginSet, SchedulerProfileView
from policygen.lint.scheduler import terms

_MULTI = "multiPoint"
_SORT, _BIND = "PrioritySort", "DefaultBinder"
"""The in-tree plugins of two extension points; a profile needs at least one plugin at each."""


def faults(profile: SchedulerProfileView) -> Iterator[Fault]:
    """Plugins listed twice or at a wrong extension point; profiles without queue sort or binder."""
    for point, plugins in profile.plugins.items():
        seen = set()
        for i, plugin in enumerate(plugins.enabled):
            at: Path = ("plugins", point, "enabled", i, "name")
            if plugin.name in seen:
                yield (
                    at,
                    f"{plugin.name} is enabled twice, which is refused; remove one of the entries",
                )
            elif not terms.extends(plugin.name, point):
                yield (
                    at,
                    f"{plugin.name} cannot run at extension point {point}, which is refused; remove the plugin from {point}",
                )
            seen.add(plugin.name)
    enabled = {it.name for plugins in profile.plugins.values() for it in plugins.enabled}
    if all(terms.in_tree(name) for name in enabled):
        for point, name, what in (
            ("queueSort", _SORT, "no plugin sorts the waiting pods"),
            ("bind", _BIND, "no plugin binds pods"),
        ):
            if not _is_enabled(profile, point, name):
                own = profile.plugins.get(point, PluginSet()).disabled
                path: Path = ("plugins", point if own else _MULTI, "disabled")
                yield path, f"{name} is disabled, so {what}, which is refused; enable {name}"


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
