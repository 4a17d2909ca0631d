"""What kube-scheduler refuses of the plugins of a profile.

Source: pkg/scheduler/framework/runtime/framework.go, NewFramework, updatePluginList,
expandMultiPointPlugins (Kubernetes 1.36.3).
"""

from collections.abc import Iterator

from policygen.core.finding import Path
from policygen.kubernetes.configurations import PluginSet, Profile
from policygen.lint.core.typed_fields import Fault
from policygen.lint.scheduler import terms

_MULTI = "multiPoint"
_SORT, _BIND = "PrioritySort", "DefaultBinder"
"""The plugins of two points of which a profile has at least one, in the tree."""


def faults(profile: Profile) -> Iterator[Fault]:
    """Plugins that stand twice, or where they cannot; a profile without an order or a binder."""
    for point, plugins in profile.plugins.items():
        seen = set()
        for i, plugin in enumerate(plugins.enabled):
            at: Path = ("plugins", point, "enabled", i, "name")
            if plugin.name in seen:
                yield at, f"{plugin.name} is enabled twice here, which is refused; take one out"
            elif not terms.extends(plugin.name, point):
                yield at, f"{plugin.name} is no plugin for {point}, which is refused; take it out"
            seen.add(plugin.name)
    enabled = {it.name for plugins in profile.plugins.values() for it in plugins.enabled}
    if all(terms.in_tree(name) for name in enabled):
        for point, name, what in (
            ("queueSort", _SORT, "nothing orders its queue"),
            ("bind", _BIND, "nothing binds its pods"),
        ):
            if not _has(profile, point, name):
                way: Path = ("plugins", point if _switched(profile, point) else _MULTI, "disabled")
                yield way, f"{name} is disabled, so {what}, which is refused; enable it"


def misnamed(profile: Profile) -> Iterator[tuple[Path, str]]:
    """What is disabled and is no plugin of any release or known build: where, and its name."""
    for point, plugins in profile.plugins.items():
        for i, plugin in enumerate(plugins.disabled):
            name = plugin.name
            if name != "*" and name not in terms.OTHERS and not terms.in_tree(name):
                yield ("plugins", point, "disabled", i, "name"), name


def _has(profile: Profile, point: str, name: str) -> bool:
    own, multi = (profile.plugins.get(it, PluginSet()) for it in (point, _MULTI))
    if any(it.name == name for it in own.enabled):
        return True
    if _off(own, name):
        return False
    return any(it.name == name for it in multi.enabled) or not _off(multi, name)


def _switched(profile: Profile, point: str) -> bool:
    return bool(profile.plugins.get(point, PluginSet()).disabled)


def _off(plugins: PluginSet, name: str) -> bool:
    return any(it.name in (name, "*") for it in plugins.disabled)
