"""Volcano's scheduler configuration: its actions and its plugins, in order."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.quoting import shown
from policygen.kubernetes.configurations import VolcanoConfigurationView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import integer, mapping
from policygen.lint.rule import Facts

QUEUE_PLUGINS = ("capacity", "proportion")
"""The plugins that decide what a queue may use."""


class ListedPlugin(Struct, frozen=True, eq=False):
    """An entry of a plugin in a tier."""

    name: str
    tier: int
    at: At
    fields: Mapping[str, Any]
    """The entry as written: its flags are keys beside its name."""
    arguments: Mapping[str, Any]

    def on(self, switch: str) -> bool:
        """Whether a flag is on. All flags but enableHierarchy are on by default."""
        return self.fields.get(switch, switch != "enableHierarchy") is True

    def number(self, argument: str, default: int) -> int:
        """An integer argument; the default if it is missing or of another type, as in Volcano."""
        found = integer(self.arguments.get(argument))
        return default if found is None else found

    def argument_at(self, name: str) -> At:
        """The place of an argument's key."""
        return self.at.to("arguments", name).on_key()


class VolcanoFile(Struct, frozen=True, eq=False):
    """One volcano-scheduler.conf."""

    entry: Entry[VolcanoConfigurationView]
    plugins: tuple[ListedPlugin, ...]

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions, in order."""
        return self.entry.fields.action_names

    @property
    def actions_at(self) -> At:
        """The place of the actions."""
        return self.entry.at / "actions"

    @property
    def evicts(self) -> list[str]:
        """The actions that evict pods."""
        names = ("preempt", "reclaim", "gangpreempt", "gangreclaim")
        return [name for name in self.actions if name in names]

    def plugin(self, name: str) -> ListedPlugin | None:
        """The first entry of a plugin, or None."""
        return next((plugin for plugin in self.plugins if plugin.name == name), None)

    @property
    def capacity(self) -> ListedPlugin | None:
        """The plugin `capacity`; None if it is not enabled, or proportion is too."""
        return None if self.plugin("proportion") else self.plugin("capacity")

    @property
    def proportion(self) -> ListedPlugin | None:
        """The plugin `proportion`; None if it is not enabled, or capacity is too."""
        return None if self.plugin("capacity") else self.plugin("proportion")

    @property
    def hierarchy(self) -> bool:
        """Whether the parents of queues take effect."""
        return self.capacity is not None and self.capacity.on("enableHierarchy")


def all_settings(facts: Facts) -> Iterator[VolcanoFile]:
    """Every configuration of the input."""
    for entry in facts.cluster.volcano_configurations:
        yield of(entry)


def plugins(facts: Facts) -> Iterator[ListedPlugin]:
    """Every entry of a plugin, in all configurations."""
    for configuration in all_settings(facts):
        yield from configuration.plugins


def settings(facts: Facts) -> VolcanoFile | None:
    """The first configuration of the input, or None."""
    return next(all_settings(facts), None)


def of(entry: Entry[VolcanoConfigurationView]) -> VolcanoFile:
    """The settings of a configuration."""
    plugins = []
    for i, tier in enumerate(entry.fields.tiers):
        for j, plugin in enumerate(tier.plugins):
            at = entry.at.to("tiers", i, "plugins", j)
            fields = mapping(entry.object.data["tiers"][i]["plugins"][j])
            name = plugin.name if isinstance(plugin.name, str) else shown(plugin.name)
            plugins.append(ListedPlugin(name, i, at, fields, mapping(fields, "arguments")))
    return VolcanoFile(entry, tuple(plugins))
