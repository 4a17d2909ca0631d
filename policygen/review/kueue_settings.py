"""What a change of Kueue's Configuration does."""

from collections.abc import Collection, Iterator
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from policygen.core.finding import Path, dotted
from policygen.drift.compare import FieldDifference, differences
from policygen.kubernetes.kueue_settings import Settings

_FRAMEWORKS: Path = ("integrations", "frameworks")
FRAMEWORKS = dotted(_FRAMEWORKS)
"""The field whose change has only the kinds that one side has."""
_IDENTITY = ("apiVersion", "kind", "metadata")
_EFFECTS = {
    ("fairSharing", True): "Kueue divides idle quota by the weights of teams",
    ("fairSharing", False): "Kueue ignores the weights of teams",
    ("waitForPodsReady", True): "Kueue evicts a workload whose pods are not ready in time",
    ("waitForPodsReady", False): "Kueue does not evict workloads whose pods never get ready",
    ("manageJobsWithoutQueueName", True): "Kueue suspends jobs that name no queue",
    ("manageJobsWithoutQueueName", False): "jobs that name no queue run beside all quotas",
    ("managedJobsNamespaceSelector", None): "Kueue manages the jobs of other namespaces",
    ("resources", None): "Kueue counts other amounts for the same requests",
}
"""By field, and whether it is on after the change; None: whatever it is."""


class SettingChange(Struct, frozen=True):
    """A setting that differs. A value of None is not set."""

    field: str
    before: Any
    after: Any
    """Of a complete section whether it is on. Of the frameworks those that only one side has."""
    effect: str = ""
    """What Kueue does after the change; empty if the field names it."""


def setting_changes(old: Settings, new: Settings) -> tuple[SettingChange, ...]:
    """The settings that differ between two Configurations, with Kueue's defaults."""
    return tuple(_changes(old, new))


def _changes(old: Settings, new: Settings) -> Iterator[SettingChange]:
    sections = {
        "fairSharing": (old.fair_sharing, new.fair_sharing),
        "waitForPodsReady": (old.waits_for_pods, new.waits_for_pods),
    }
    for name, (was, now) in sections.items():
        if was is not now:
            yield SettingChange(name, was, now, _EFFECTS[name, now])
    yield from _frameworks(old.frameworks, new.frameworks)
    for it in _differences(old, new):
        # The fields of a section have an effect only while it is on.
        first = str(it.path[0])
        if it.path[:2] != _FRAMEWORKS and sections.get(first, (True, True)) == (True, True):
            yield _change(it, in_section=first in sections)


def _frameworks(old: Collection[str], new: Collection[str]) -> Iterator[SettingChange]:
    added = [it for it in new if it not in old]
    removed = [it for it in old if it not in new]
    if added:
        yield SettingChange(FRAMEWORKS, [], added, "Kueue queues these kinds")
    if removed:
        effect = "Kueue ignores queue labels of these kinds, so they run beside all quotas"
        yield SettingChange(FRAMEWORKS, removed, [], effect)


def _differences(old: Settings, new: Settings) -> Iterator[FieldDifference]:
    """The fields that differ, except the apiVersion and the switch of a section."""
    # They are compared as a file in a ConfigMap, so that other texts for the same duration are equal.
    files = {"old": _data(old), "new": _data(new)}
    maps = [{"apiVersion": "v1", "kind": "ConfigMap", "data": {"file": name}} for name in files]
    for it in differences(maps[0], maps[1], files.get):
        path, names = it.path[2:], it.named[2:]
        if path[0] not in _IDENTITY and path[1:] != ("enable",):
            yield replace(it, path=path, named=names)


def _data(settings: Settings) -> dict[str, Any]:
    return dict(settings.entry.object.data) if settings.entry else {}


def _change(it: FieldDifference, *, in_section: bool) -> SettingChange:
    before, after = (None if value is UNSET else value for value in (it.expected, it.found))
    first = str(it.path[0])
    effect = (
        "" if in_section else _EFFECTS.get((first, after is True), _EFFECTS.get((first, None), ""))
    )
    return SettingChange(dotted(it.named or it.path), before, after, effect)
