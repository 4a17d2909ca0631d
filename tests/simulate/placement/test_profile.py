"""Which scores a KubeSchedulerConfiguration turns on. tests/servers/test_placement.py compares them with kube-scheduler."""

import pytest
import yaml

from policygen.core.decoding import converted
from policygen.core.names import GPU, HOSTNAME
from policygen.kubernetes.configurations import SchedulerProfileView
from policygen.kubernetes.scheduler_plugins import WEIGHTS
from policygen.kubernetes.typed import decoded
from policygen.simulate.placement.profile import Profile, profile, utilization_table


def read(text):
    return profile(converted(yaml.safe_load(text), SchedulerProfileView, decoded))


def test_an_empty_profile_is_the_default():
    assert read("{}") == Profile()


@pytest.mark.parametrize(
    ("plugins", "changed"),
    [
        ("{score: {disabled: [{name: PodTopologySpread}]}}", {"PodTopologySpread": None}),
        ("{multiPoint: {enabled: [{name: NodeResourcesFit, weight: 9}]}}", {"NodeResourcesFit": 9}),
        ("{multiPoint: {enabled: [{name: TaintToleration, weight: 0}]}}", {"TaintToleration": 1}),
        (
            "{multiPoint: {enabled: [{name: NodeAffinity, weight: 9}]}, score: {disabled: [{name: NodeAffinity}]}}",
            {"NodeAffinity": None},
        ),
        (
            "{score: {disabled: [{name: '*'}], enabled: [{name: NodeResourcesFit, weight: 4}]}}",
            {**dict.fromkeys(WEIGHTS), "NodeResourcesFit": 4},
        ),
    ],
)
def test_weights(plugins, changed):
    expected = {**WEIGHTS, **changed}
    assert read(f"plugins: {plugins}").weights == {k: v for k, v in expected.items() if v}


def test_an_unknown_plugin_is_named():
    assert read("plugins: {score: {enabled: [{name: Peaks}]}}").not_modelled == ("Peaks",)


def test_arguments():
    found = read("""
      schedulerName: packing
      pluginConfig:
        - name: NodeResourcesFit
          args:
            scoringStrategy: {type: MostAllocated, resources: [{name: nvidia.com/gpu, weight: 5}, {name: cpu}]}
        - {name: NodeResourcesBalancedAllocation, args: {resources: [{name: nvidia.com/gpu}]}}
        - name: PodTopologySpread
          args:
            defaultingType: List
            defaultConstraints: [{topologyKey: kubernetes.io/hostname, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]
        - {name: InterPodAffinity, args: {hardPodAffinityWeight: 0}}
    """)
    assert found.name == "packing"
    assert (found.strategy.most, found.strategy.resources) == (True, ((GPU, 5), ("cpu", 1)))
    assert found.balanced == (GPU,)
    assert [(it.key, it.max_skew, it.soft) for it in found.constraints] == [(HOSTNAME, 1, False)]
    assert not found.system_constraints
    assert found.hard_pod_affinity_weight == 0


def test_a_broken_line_rounds_towards_its_left_point():
    table = utilization_table([(10, 2), (40, 9), (70, 0)])
    assert table[0] == table[10] == 20
    assert table[25] == 55  # 20 + 70 x 15 / 30
    assert table[26] == 57  # 20 + 37.3
    assert table[41] == 87  # 90 - 3
    assert table[70] == table[100] == 0


def test_a_ratio_without_a_shape_is_undefined():
    """kube-scheduler refuses it."""
    args = (
        "{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: []}}}"
    )
    assert (
        read(f"{{pluginConfig: [{{name: NodeResourcesFit, args: {args}}}]}}").strategy.table == ()
    )


@pytest.mark.parametrize(
    ("plugins", "last"),
    [
        ("{}", ("NodeResourcesFit", "PodTopologySpread", "InterPodAffinity")),
        (
            "{filter: {disabled: [{name: PodTopologySpread}]}}",
            ("NodeResourcesFit", "InterPodAffinity"),
        ),
        (
            "{multiPoint: {disabled: [{name: NodeResourcesFit}], enabled: [{name: NodeResourcesFit}]}}",
            ("PodTopologySpread", "InterPodAffinity", "NodeResourcesFit"),
        ),
    ],
)
def test_filters_are_in_their_order(plugins, last):
    assert read(f"plugins: {plugins}").filters[4:] == last


def test_a_filter_of_the_point_itself_comes_first():
    found = read("plugins: {filter: {enabled: [{name: InterPodAffinity}]}}").filters
    assert found[0] == "InterPodAffinity"
    assert len(found) == len(set(found)) == 7
