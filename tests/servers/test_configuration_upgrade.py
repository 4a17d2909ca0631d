"""Kueue does the same with a Configuration before and after `policygen upgrade`."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from random import Random

import pytest
import yaml

from policygen.app.upgrade import upgrade
from policygen.core import versions
from tests.servers.build import located
from tests.servers.loaders import KUEUE_MANAGER, effects, refusals

COUNT = 300
TODAY = date(2026, 11, 23)
BOTH = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]


def drawn(random):
    """A Configuration in v1beta1 as users have it."""

    def some(**fields):
        return {key: random.choice(them) for key, them in fields.items() if random.random() < 0.5}

    sections = {
        "waitForPodsReady": lambda: {
            "enable": random.choice((True, True, False)),
            **some(
                timeout=("5m", "30m", "90s"),
                blockAdmission=(True, False),
                recoveryTimeout=("3m", "0s"),
                requeuingStrategy=({"timestamp": "Creation"}, {"backoffLimitCount": 3}, {}),
            ),
        },
        "fairSharing": lambda: {
            "enable": random.choice((True, True, False)),
            **some(preemptionStrategies=(BOTH, BOTH[:1], BOTH[1:])),
        },
        "integrations": lambda: {"frameworks": random.choice((["batch/job"], ["pod"]))},
        "featureGates": lambda: {
            random.choice(("PartialAdmission", "TopologyAwareScheduling")): True
        },
        "queueVisibility": lambda: {"clusterQueues": {"maxCount": 0}},
        "manageJobsWithoutQueueName": lambda: True,
        "managedJobsNamespaceSelector": lambda: {"matchLabels": {"kueue": "yes"}},
        "multiKueue": lambda: {"gcInterval": "2m"},
        "resources": lambda: {"excludeResourcePrefixes": ["example.com/"]},
        "clientConnection": lambda: {"qps": 50, "burst": 100},
    }
    names = [name for name in sections if random.random() < 0.5]
    random.shuffle(names)
    head = {"apiVersion": "config.kueue.x-k8s.io/v1beta1", "kind": "Configuration"}
    return {**head, **{name: sections[name]() for name in names}}


def written(random, data):
    """The text of a Configuration: as YAML with a comment, or as JSON."""
    if random.random() < 0.2:
        return json.dumps(data)
    return yaml.safe_dump(data).replace("\n", "  # a comment\n", 1)


def test_an_upgraded_configuration_has_the_same_effect(tmp_path):
    if located(KUEUE_MANAGER).missing:
        pytest.skip("the loader is not built: python -m tests.servers build")
    random = Random(20261123)
    before = [written(random, drawn(random)) for _ in range(COUNT)]
    for number, text in enumerate(before):
        (tmp_path / f"{number:03}.yaml").write_text(text)
    made = upgrade((str(tmp_path),), {"kueue": versions.parse("kueue", "0.19")}, today=TODAY)
    # Of two neighbours in braces that are both removed, neither keeps the comma.
    left = {finding.place.file for finding, reason in made.fixed.left if "overlap" in reason}
    assert len(left) == len(made.fixed.left) == len(made.by_hand) <= COUNT // 50
    names = [source.name for source, _ in made.fixed.texts]
    assert len(names) == COUNT - len(left)
    before = [(tmp_path / Path(name).name).read_text() for name in names]
    after = [text for _, text in made.fixed.texts]
    assert all("v1beta2" in text and "v1beta1" not in text for text in after)
    assert set(refusals(KUEUE_MANAGER, [*before, *after])) == {""}
    assert list(effects(before)) == list(effects(after))
