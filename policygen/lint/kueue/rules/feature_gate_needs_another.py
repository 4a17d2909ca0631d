"""A feature gate is on that needs another one, and that is off."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.versions import Minor
from policygen.lint.kueue import feature_gates
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Facts, Family, ObjectRule

_TAS, _NODES = "TopologyAwareScheduling", "TASFailedNodeReplacement"
_SLICES, _DRA = "ElasticJobsViaWorkloadSlices", "KueueDRAIntegration"
_UNADMITTED = "UnadmittedWorkloads"

NEEDS: tuple[tuple[str, str, Minor], ...] = (
    ("TASProfileLeastFreeCapacity", _TAS, (0, 13)),
    ("TASProfileMixed", _TAS, (0, 13)),
    ("ElasticJobsViaWorkloadSlicesWithTAS", _TAS, (0, 17)),
    ("ElasticJobsViaWorkloadSlicesWithTAS", _SLICES, (0, 17)),
    *(
        (gate, _TAS, (0, 18))
        for gate in (
            "TASBalancedPlacement",
            _NODES,
            "TASHandleOverlappingFlavors",
            "TASMultiLayerTopology",
            "TASReplaceNodeOnNodeTaints",
            "TASRespectNodeAffinityPreferred",
        )
    ),
    ("TASFailedNodeReplacementFailFast", _NODES, (0, 18)),
    ("TASReplaceNodeOnPodTermination", _NODES, (0, 18)),
    ("TASRecomputeAssignmentWithinSchedulingCycle", _TAS, (0, 19)),
    ("TASReplaceNodeDueToNotReadyOverFixedTime", _NODES, (0, 19)),
    (f"{_DRA}ExtendedResource", _DRA, (0, 18)),
    (f"{_DRA}PartitionableDevices", _DRA, (0, 18)),
    (f"{_DRA}ConsumableCapacity", _DRA, (0, 19)),
    (f"{_UNADMITTED}ExplicitStatus", f"{_UNADMITTED}Observability", (0, 19)),
)
"""A gate, what it needs, and the first release whose every patch refuses it otherwise."""


def check(facts: Facts) -> Iterator[Hit]:
    """The manager exits at start. Gates that are on by default count too.

    Source: pkg/config/validation.go, LoadAndValidateFeatureGates.
    """
    target = facts.target["kueue"]
    for entry, rules in all_settings(facts):
        lacking: dict[str, list[str]] = {}
        for gate, needed, since in NEEDS:
            there = feature_gates.known(gate, target) and target.release >= since
            if there and rules.gate(gate) and not rules.gate(needed):
                lacking.setdefault(needed, []).append(gate)
        for needed, gates in lacking.items():
            them = (
                " and ".join(gates) if len(gates) < 3 else f"{gates[0]} and {len(gates) - 1} more"
            )
            yield Hit(
                RULE,
                f"Kueue does not start with {needed} off while {them} need it; write "
                f"{', '.join(f'{gate}: false' for gate in gates)}, or switch it on",
                entry.at.to("featureGates", needed),
            )


RULE = ObjectRule(
    "feature-gate-needs-another",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("Configuration",),
    check=check,
    reads=("Deployment",),
)
