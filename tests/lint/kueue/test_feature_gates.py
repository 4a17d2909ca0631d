"""Feature gates of each release."""

from policygen.core.versions import SUPPORTED, Version
from policygen.lint.kueue import configuration_keys, feature_gates


def test_every_supported_release_has_gates_and_keys():
    first, last = SUPPORTED["kueue"]
    for minor in range(first[1], last[1] + 1):
        assert "TopologyAwareScheduling" in feature_gates.names(Version(0, minor))
    assert {"v1beta1", "v1beta2"} == {
        v for v in ("v1beta1", "v1beta2", "v1") if configuration_keys.of(v)
    }
    assert not feature_gates.on("TopologyAwareScheduling", Version(0, 13))
    assert feature_gates.on("TopologyAwareScheduling", Version(0, 14, 3))
    assert feature_gates.locked("ManagedJobsNamespaceSelectorAlwaysRespected", Version(0, 19))
    assert not feature_gates.known("DynamicResourceAllocation", Version(0, 19))
