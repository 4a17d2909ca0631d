"""Feature gates of each release."""

from policygen.core.versions import SUPPORTED, Version
from policygen.kubernetes import kueue_gates
from policygen.lint.kueue import configuration_keys


def test_every_supported_release_has_gates_and_keys():
    first, last = SUPPORTED["kueue"]
    for minor in range(first[1], last[1] + 1):
        assert "TopologyAwareScheduling" in kueue_gates.names(Version(0, minor))
    assert {"v1beta1", "v1beta2"} == {
        v for v in ("v1beta1", "v1beta2", "v1") if configuration_keys.of(v)
    }
    assert not kueue_gates.on("TopologyAwareScheduling", Version(0, 13))
    assert kueue_gates.on("TopologyAwareScheduling", Version(0, 14, 3))
    assert kueue_gates.beta("TopologyAwareScheduling", Version(0, 14))
    assert kueue_gates.beta("UnadmittedWorkloadsObservability", Version(0, 19))
    assert not kueue_gates.on("UnadmittedWorkloadsObservability", Version(0, 19))
    assert not kueue_gates.beta("UnadmittedWorkloadsObservability", Version(0, 18))
    assert kueue_gates.locked("ManagedJobsNamespaceSelectorAlwaysRespected", Version(0, 19))
    assert not kueue_gates.known("DynamicResourceAllocation", Version(0, 19))
