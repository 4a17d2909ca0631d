"""How a Configuration of Kueue in v1beta1 becomes one in v1beta2 with the same effect.

Source: apis/config/v1beta1/defaults.go and configuration_conversion.go of Kueue 0.19.2.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from policygen.core.durations import seconds
from policygen.core.finding import At, Edit, Verb
from policygen.core.versions import KUEUE_WAITS, Version
from policygen.kubernetes.untyped import mapping

NEW = "config.kueue.x-k8s.io/v1beta2"
NO_WAIT = "DisableWaitForPodsReady"
"""The feature gate that switches waitForPodsReady off, which is on without a section since 0.19."""
_STRATEGIES = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
_TIMEOUT = "5m"


class SectionChange(Struct, frozen=True):
    """A change of one section, besides the apiVersion."""

    advice: str
    """What to write instead of what, without a verb."""
    edits: tuple[Edit, ...] = ()
    """Empty if only a person can make the change."""


def changes(
    data: Mapping[str, Any], at: At, target: Version, *, gates_elsewhere: bool
) -> list[SectionChange]:
    """All changes that the sections of a v1beta1 Configuration need.

    `gates_elsewhere`: the command line of Kueue sets feature gates, so the file must not.
    """
    return [
        *_fair_sharing(data, at),
        *_wait_for_pods(data, at, target, gates_elsewhere=gates_elsewhere),
        *_gone(data, at),
    ]


def _fair_sharing(data: Mapping[str, Any], at: At) -> Iterator[SectionChange]:
    section, there = data.get("fairSharing"), at / "fairSharing"
    if section is None:
        return
    enabled = section.get("enable")
    if not enabled:
        yield SectionChange("no fairSharing, which is off here", (Edit(Verb.REMOVE, there),))
    elif section.get("preemptionStrategies"):
        removal = Edit(Verb.REMOVE, there / "enable")
        yield SectionChange(
            "fairSharing without enable, because the section enables it", (removal,)
        )
    else:
        edits = (
            Edit(Verb.RENAME, there / "enable", "preemptionStrategies"),
            Edit(Verb.REWRITE, there / "enable", _STRATEGIES),
        )
        yield SectionChange(
            f"fairSharing.preemptionStrategies: [{', '.join(_STRATEGIES)}] instead of enable",
            () if "preemptionStrategies" in section else edits,
        )


def _wait_for_pods(
    data: Mapping[str, Any], at: At, target: Version, *, gates_elsewhere: bool
) -> Iterator[SectionChange]:
    section, there = data.get("waitForPodsReady"), at / "waitForPodsReady"
    if section is None or not section.get("enable"):
        if section is not None:
            yield SectionChange(
                "no waitForPodsReady, which is off here", (Edit(Verb.REMOVE, there),)
            )
        gates = data.get("featureGates") or {}
        if target.release >= KUEUE_WAITS and gates.get(NO_WAIT) is not True:
            verb = Verb.REWRITE if NO_WAIT in gates else Verb.ADD
            gate = Edit(verb, at.to("featureGates", NO_WAIT), to=True)
            yield SectionChange(
                f"{NO_WAIT}: true under featureGates, because v1beta2 waits for pods without a "
                "section",
                () if gates_elsewhere else (gate,),
            )
        return
    missing = [
        (key, value)
        for key, value in (("timeout", _TIMEOUT), ("blockAdmission", True))
        if key not in section
    ]
    if any(section.get(key, ...) is None for key in ("timeout", "blockAdmission")) or not seconds(
        section.get("timeout", _TIMEOUT)
    ):
        yield SectionChange(
            "a waitForPodsReady.timeout above 0, and a blockAdmission that is not empty"
        )
        return
    if not missing:
        removal = Edit(Verb.REMOVE, there / "enable")
        yield SectionChange(
            "waitForPodsReady without enable, because the section enables it", (removal,)
        )
        return
    (key, value), *others = missing
    words = " and ".join(f"{key}: {str(value).lower()}" for key, value in missing)
    yield SectionChange(
        f"waitForPodsReady with {words}, its defaults in v1beta1, instead of enable",
        (
            Edit(Verb.RENAME, there / "enable", key),
            *((Edit(Verb.REWRITE, there / "enable", value),) if value is not True else ()),
            *(Edit(Verb.ADD, there / other, its) for other, its in others),
        ),
    )


def _gone(data: Mapping[str, Any], at: At) -> Iterator[SectionChange]:
    if "queueVisibility" in data:
        yield SectionChange(
            "no queueVisibility, which has no effect",
            (Edit(Verb.REMOVE, at / "queueVisibility"),),
        )
    if "podOptions" in mapping(data, "integrations"):
        yield SectionChange("managedJobsNamespaceSelector instead of integrations.podOptions")
