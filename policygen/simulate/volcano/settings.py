"""The settings of Volcano's scheduler: its actions in order, and its plugins in tiers.

Source: pkg/scheduler/{util.go,conf} and pkg/scheduler/plugins/defaults.go of Volcano 1.14.1.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from policygen.kubernetes.untyped import integer, mapping, mappings, text

_KNOWN_ACTIONS = frozenset({"enqueue", "allocate", "backfill", "preempt", "reclaim", "shuffle"})
_ACTIONS = frozenset({"enqueue", "allocate", "backfill", "preempt", "reclaim"})
_PLUGINS = frozenset(
    {
        "binpack",
        "capacity",
        "conformance",
        "drf",
        "gang",
        "nodeorder",
        "overcommit",
        "predicates",
        "priority",
        "proportion",
        "resource-strategy-fit",
    }
)


class TierPlugin(Struct, frozen=True, eq=False):
    """A plugin of a tier."""

    name: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Its flags, as written."""
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def on(self, flag: str) -> bool:
        """Whether a flag is on. All flags but enableHierarchy are on by default."""
        found = self.fields.get(flag)
        return flag != "enableHierarchy" if found is None else found is True

    def number(self, argument: str, default: int) -> int:
        """An integer argument; the default if it is missing or of another type."""
        found = integer(self.arguments.get(argument))
        return default if found is None else found

    def enabled(self, argument: str) -> bool:
        """A boolean argument that is true by default."""
        found = self.arguments.get(argument)
        return found if isinstance(found, bool) else True


class SchedulerSettings(Struct, frozen=True, eq=False):
    """What a volcano-scheduler.conf says."""

    actions: tuple[str, ...]
    tiers: tuple[tuple[TierPlugin, ...], ...]
    configurations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The arguments of actions."""

    def plugin(self, name: str) -> TierPlugin | None:
        """The first entry of a plugin, or None."""
        return next((it for tier in self.tiers for it in tier if it.name == name), None)

    @property
    def unmodelled(self) -> tuple[str, ...]:
        """What this simulation does not know of these settings."""
        return tuple(dict.fromkeys(_unmodelled(self)))


BUILT_IN = SchedulerSettings(
    ("enqueue", "allocate", "backfill"),
    (
        tuple(map(TierPlugin, ("priority", "gang", "conformance"))),
        tuple(map(TierPlugin, ("overcommit", "drf", "predicates", "proportion", "nodeorder"))),
    ),
)
"""What Volcano uses if it cannot read its file."""


def settings_of(data: Mapping[str, Any]) -> SchedulerSettings:
    """The settings of a file; the built-in ones if it names an unknown action."""
    actions = tuple(it.strip() for it in text(data, "actions").split(","))
    if not _KNOWN_ACTIONS.issuperset(actions):
        return BUILT_IN
    return SchedulerSettings(
        actions,
        tuple(
            tuple(
                TierPlugin(text(it, "name"), it, mapping(it, "arguments"))
                for it in mappings(tier, "plugins")
            )
            for tier in mappings(data, "tiers")
        ),
        {
            text(it, "name"): mapping(it, "arguments")
            for it in reversed(mappings(data, "configurations"))
        },
    )


def _unmodelled(settings: SchedulerSettings) -> Iterator[str]:
    for action in settings.actions:
        if action not in _ACTIONS:
            yield f"action {action}"
    if mapping(settings.configurations, "preempt").get("enableTopologyAwarePreemption") is True:
        yield "enableTopologyAwarePreemption of the action preempt"
    for plugin in (it for tier in settings.tiers for it in tier):
        if plugin.name not in _PLUGINS:
            yield f"plugin {plugin.name}"
        elif plugin.name == "drf" and plugin.on("enableHierarchy"):
            yield "enableHierarchy of the plugin drf"
        elif plugin.name == "resource-strategy-fit":
            for part in ("sra", "proportional"):
                if mapping(plugin.arguments, part).get("enable") is True:
                    yield f"{part} of the plugin resource-strategy-fit"
