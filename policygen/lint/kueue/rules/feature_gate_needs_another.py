"""A feature gate of Kueue is on, but another gate that it requires is off."""

from policygen.core.versions import Minor
from policygen.kubernetes import kueue_gates
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

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
"""A gate, the gate that it requires, and the first release in which every patch enforces this."""


def check(facts: Facts) -> Hits:
    """The manager exits at start. Gates that are on by default count too.

    Source: pkg/config/validation.go, LoadAndValidateFeatureGates.
    """
    target = facts.target["kueue"]
    for entry, rules in all_settings(facts):
        unmet: dict[str, list[str]] = {}
        for gate, needed, since in NEEDS:
            enforced = kueue_gates.known(gate, target) and target.release >= since
            if enforced and rules.gate(gate) and not rules.gate(needed):
                unmet.setdefault(needed, []).append(gate)
        for needed, gates in unmet.items():
            users = (
                " and ".join(gates) if len(gates) < 3 else f"{gates[0]} and {len(gates) - 1} more"
            )
            yield Hit(
                RULE,
                f"feature gate {needed} is off, but gates that are on require it ({users}), so Kueue "
                f"does not start; in featureGates, write {needed}: true, or "
                f"{', '.join(f'{gate}: false' for gate in gates)}",
                entry.at.to("featureGates", needed),
            )


RULE = ObjectRule(
    "feature-gate-needs-another",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Switch both feature gates on, or switch both off.",
    judges=("Configuration",),
    check=check,
    reads=("Deployment",),
)
