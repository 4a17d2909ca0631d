"""What Volcano's scheduler configuration amounts to: its actions, its plugins in their order."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes.configurations import VolcanoConfiguration
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import whole
from policygen.lint.rule import Facts

QUEUE_PLUGINS = ("capacity", "proportion")
"""The plugins that decide what a queue may have."""


class Placed(Struct, frozen=True, eq=False):
    """A plugin where it stands."""

    name: str
    tier: int
    at: At
    fields: Mapping[str, Any]
    """As it was written: its flags stand beside its name."""
    arguments: Mapping[str, Any]

    def on(self, switch: str) -> bool:
        """Whether a flag is on; all are unless they are written, but for the hierarchy."""
        return self.fields.get(switch, switch != "enableHierarchy") is True

    def number(self, argument: str, default: int) -> int:
        """An integer argument as the program reads it: of another type, it keeps its default."""
        found = whole(self.arguments.get(argument))
        return default if found is None else found

    def argument_at(self, name: str) -> At:
        """The key of an argument."""
        return self.at.to("arguments", name).on_key()


class Settings(Struct, frozen=True, eq=False):
    """One volcano-scheduler.conf."""

    entry: Entry[VolcanoConfiguration]
    plugins: tuple[Placed, ...]

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions in their order."""
        return self.entry.it.action_names

    @property
    def actions_at(self) -> At:
        """Where they stand."""
        return self.entry.at / "actions"

    @property
    def evicts(self) -> list[str]:
        """The actions that take from who runs."""
        names = ("preempt", "reclaim", "gangpreempt", "gangreclaim")
        return [name for name in self.actions if name in names]

    def plugin(self, name: str) -> Placed | None:
        """The first plugin of a name."""
        for each in self.plugins:
            if each.name == name:
                return each
        return None

    @property
    def capacity(self) -> Placed | None:
        """The plugin `capacity` where it alone decides about queues."""
        return None if self.plugin("proportion") else self.plugin("capacity")

    @property
    def proportion(self) -> Placed | None:
        """The plugin `proportion` where it alone decides about queues."""
        return None if self.plugin("capacity") else self.plugin("proportion")

    @property
    def hierarchy(self) -> bool:
        """Whether parents of queues count."""
        return self.capacity is not None and self.capacity.on("enableHierarchy")


def all_settings(facts: Facts) -> Iterator[Settings]:
    """Every configuration of the input."""
    for entry in facts.cluster.volcano_configurations:
        yield of(entry)


def settings(facts: Facts) -> Settings | None:
    """That of the first configuration; None if the input has none."""
    return next(all_settings(facts), None)


def of(entry: Entry[VolcanoConfiguration]) -> Settings:
    """What a configuration says."""
    plugins = []
    for i, tier in enumerate(entry.it.tiers):
        for j, plugin in enumerate(tier.plugins):
            at = entry.at.to("tiers", i, "plugins", j)
            fields = entry.object.data["tiers"][i]["plugins"][j]
            plugins.append(Placed(plugin.name, i, at, fields, plugin.arguments))
    return Settings(entry, tuple(plugins))
