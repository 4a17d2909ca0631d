"""Arguments of Volcano's scores: each argument decides which of two nodes a pod gets."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from policygen.plan.volcano_configuration import SCORE_WEIGHT
from tests.servers import pairs
from tests.servers.pairs import BUSY, WHOLE, Load, Pair
from tests.servers.volcano_specs import edited, pool, team, volcano
from tests.servers.workloads import GPU, VOLCANO_QUEUE, Ask

ONE = Ask(gpus=1)


@dataclass(frozen=True)
class Choice:
    """A pair of nodes of which a pod gets the first, and the second without the argument."""

    argument: str
    pair: Pair
    instead: Any = None
    """Another value; None removes the argument."""

    def edit(self, plugin):
        entries, key = plugin["arguments"], self.argument
        if key.startswith("resources."):
            entries, key = entries["resources"], key.removeprefix("resources.")
        if self.instead is None:
            del entries[key]
        else:
            assert entries[key] != self.instead
            entries[key] = self.instead


def choice(argument, first, second, instead=None, *, ask=ONE, **pair):
    return Choice(argument, Pair(first, second, ask=ask, **pair), instead)


CHOICES: Mapping[tuple[str, str], list[Choice]] = {
    # A pod that requests only GPUs: the first node has more of its 32 GPUs in use.
    ("binPack", "nodeorder"): [
        choice("leastrequested.weight", Load(2, **BUSY), Load()),
        choice("balancedresource.weight", Load(2, cpu="127"), Load()),
        choice("podtopologyspread.weight", Load(3), Load(2), service=True),
    ],
    ("binPack", "binpack"): [
        # It would rather have the second node, which is worth 200 points.
        choice("binpack.weight", Load(24), Load(), prefers_second=100),
        # One GPU more on the first node, all of cpu and memory on the second.
        choice("binpack.resources", Load(2), Load(1, **BUSY), ask=WHOLE),
        choice(f"binpack.resources.{GPU}", Load(2), Load(1, **BUSY), ask=WHOLE),
        choice(f"binpack.resources.{GPU}", Load(2), Load(1, **BUSY), SCORE_WEIGHT, ask=WHOLE),
        # As many GPUs: cpu and memory break the tie. The 1 that we write is Volcano's default.
        choice("binpack.cpu", Load(cpu="64"), Load(memory="64Gi"), 0, ask=WHOLE),
        choice("binpack.memory", Load(memory="512Gi"), Load(cpu="8"), 0, ask=WHOLE),
    ],
    ("spread", "nodeorder"): [
        choice("leastrequested.weight", Load(1, **BUSY), Load(2)),
        choice("balancedresource.weight", Load(1, cpu="127"), Load(2)),
    ],
    ("spread", "resource-strategy-fit"): [
        # The 10 that we write is Volcano's default.
        choice("resourceStrategyFitWeight", Load(), Load(24), 1, prefers_second=100),
        choice("resources", Load(1, **BUSY), Load(2), ask=WHOLE),
        choice(f"resources.{GPU}", Load(1, **BUSY), Load(2), ask=WHOLE),
        choice("resources.cpu", Load(memory="64Gi"), Load(cpu="64"), ask=WHOLE),
        choice("resources.memory", Load(cpu="8"), Load(memory="512Gi"), ask=WHOLE),
    ],
}
SHARED = "perNode: 8, memory: 80Gi, sharing: timeSlicing, replicas: 4"
CARDS = 32
"""Units a node, by that: the more there are, the less one of them weighs."""
LOADED_S = 1.0
"""A new scheduler's first session may come before it has counted all pods on their nodes."""


def choosers(stood):
    """A pod for each of these pairs."""
    more = {"namespace": "a", "annotations": {VOLCANO_QUEUE: "a.train"}}
    return {name: pairs.chooser(name, pair, "volcano", **more) for name, pair in stood.items()}


def chosen(cluster, config, stood):
    """Which node of each pair a pod gets by a configuration."""
    with cluster.volcano(config):
        time.sleep(LOADED_S)
        return pairs.choices(cluster, choosers(stood))


@pytest.mark.parametrize("policy, plugin", CHOICES)
def test_each_scoring_argument_changes_a_placement(cluster, record_property, policy, plugin):
    named = {f"c{number}": it for number, it in enumerate(CHOICES[policy, plugin])}
    stood = {name: it.pair for name, it in named.items()}
    out = volcano(pool(2, policy=f"{policy}: true", gpu=SHARED), team("a", {"guarantee": 8}))
    cluster.apply(out.text)
    pairs.create(cluster, stood, namespace="a", cards=CARDS)
    assert chosen(cluster, out.volcano_config, stood) == dict.fromkeys(stood, "first")
    for name, it in named.items():
        config = edited(out.volcano_config, plugin, it.edit)
        found = chosen(cluster, config, {name: it.pair})
        record_property(f"{it.argument} {it.instead or 'left out'}", found[name])
        assert found == {name: "second"}, it.argument


def test_images_count_nothing_on_volcano_1_14(cluster):
    """1.12, 1.13 and 1.15 score them, so `imagelocality.weight: 0` is still written."""
    out = volcano(pool(2, policy="binPack: true", gpu=SHARED), team("a", {"guarantee": 8}))
    cluster.apply(out.text)
    stood = {"image": Pair(Load(2), Load(), ask=ONE, image_on_second=True)}
    pairs.create(cluster, stood, namespace="a", cards=CARDS)
    much = {"imagelocality.weight": 1000}
    loud = edited(out.volcano_config, "nodeorder", lambda p: p["arguments"].update(much))
    assert chosen(cluster, loud, stood) == {"image": "first"}
    made = choosers(stood)["image"]
    del made["spec"]["schedulerName"]
    assert pairs.choices(cluster, {"kube-scheduler too": made}) == {"kube-scheduler too": "second"}
