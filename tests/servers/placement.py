"""Does the simulator score nodes as kube-scheduler does? Both play the same drawn scenarios.

    python -m tests.servers.placement --count 1000 --seed 7

plays more, and others, than the test does, and prints where they differ.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from policygen.core.decoding import converted
from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.configurations import SchedulerConfigurationView
from policygen.kubernetes.listed_nodes import listed_nodes
from policygen.kubernetes.object import Object
from policygen.kubernetes.pod_terms import selector_of
from policygen.kubernetes.typed import decoded
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.placement.preemption import RunningPod, preemptions
from policygen.simulate.placement.profile import profile
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape, default_selector, shape_of

from .build import build
from .placement_scenarios import Data, drawn
from .upstream import KUBE_SCHEDULER_SCORES

SHOWN = 10
Step = tuple[str, dict[str, dict[str, int]], dict[str, list[str]], dict[str, list[str]]]
"""The node of a pod, the weighted scores that are not 0 by node and plugin, why others refuse it, and the
pods that would go from each node if none has room."""


def program() -> Path:
    """kube-scheduler's plugins as a program; builds it if it is missing."""
    return build([KUBE_SCHEDULER_SCORES], quiet=True)[KUBE_SCHEDULER_SCORES.name].binary("scores")


def real(scenarios: Iterable[Data]) -> Iterator[list[Step]]:
    """What kube-scheduler does."""
    text = "\n".join(json.dumps(it) for it in scenarios)
    done = subprocess.run([program()], input=text, stdout=subprocess.PIPE, text=True, check=True)
    for line in done.stdout.splitlines():
        found = json.loads(line)
        if "error" in found:
            raise ValueError(found["error"])
        yield [
            (
                it["node"],
                _without_zeros(it["scores"]),
                _sorted(it["reasons"]),
                it.get("victims", {}),
            )
            for it in found["steps"] or ()
        ]


def _sorted(reasons: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    return {node: sorted(them) for node, them in reasons.items()}


def _without_zeros(scores: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    return {node: {name: it for name, it in them.items() if it} for node, them in scores.items()}


def simulated(scenario: Data) -> list[Step]:
    """What the simulator does."""
    return list(_Play(scenario).steps())


class _Play:
    """A scenario on the simulator."""

    def __init__(self, scenario: Data) -> None:
        self.scenario = scenario
        view = converted(scenario["configuration"], SchedulerConfigurationView, decoded)
        objects = (Object.read(it, At(0, ())) for it in scenario["nodes"])
        cluster = Cluster(it for it in objects if it is not None)
        assert not cluster.malformed
        self.scheduler = KubeScheduler(
            listed_nodes(cluster), [profile(it) for it in view.profiles], seed=None
        )
        self.shapes: dict[str, PodShape] = {}
        self.bound: dict[str, tuple[int, RunningPod]] = {}

    def steps(self) -> Iterator[Step]:
        names = [it.name for it in self.scheduler.nodes.all]
        for started, step in enumerate(self.scenario["steps"]):
            for name in step["remove"]:
                if name in self.bound:
                    node, pod = self.bound.pop(name)
                    self.scheduler.remove(pod.shape, node)
            shape, data = self._shape(step["pod"]), step["pod"]
            reasons = {names[i]: them for i, them in self.scheduler.refusals(shape).items()}
            scores = {names[i]: them for i, them in self.scheduler.scores(shape).items()}
            pod = RunningPod(data["metadata"]["name"], shape, data["spec"]["priority"], started)
            placed, victims = self.scheduler.place(shape), {}
            if placed is not None:
                self.bound[pod.name] = placed.node, pod
            else:
                found = preemptions(self.scheduler, shape, pod.priority, self._running())
                victims = {names[it.node]: [each.name for each in it.victims] for it in found}
            node_name = names[placed.node] if placed else ""
            yield node_name, _without_zeros(scores), _sorted(reasons), victims

    def _running(self) -> dict[int, list[RunningPod]]:
        found: dict[int, list[RunningPod]] = {}
        for node, pod in self.bound.values():
            found.setdefault(node, []).append(pod)
        return found

    def _shape(self, pod: Data) -> PodShape:
        metadata = {key: it for key, it in pod["metadata"].items() if key not in ("name", "uid")}
        spec = {key: it for key, it in pod["spec"].items() if key != "priority"}
        key = json.dumps([metadata, spec], sort_keys=True)
        if key not in self.shapes:
            namespace, labels = metadata["namespace"], metadata["labels"]
            owners = {it["metadata"]["name"]: it for it in self.scenario["replicaSets"]}
            owner = [owners[it["name"]] for it in metadata.get("ownerReferences", ())]
            services = [
                it["spec"]["selector"]
                for it in self.scenario["services"]
                if it["metadata"]["namespace"] == namespace
            ]
            controller = selector_of(owner[0]["spec"]["selector"]) if owner else None
            self.shapes[key] = shape_of(
                converted(spec, PodSpec, decoded),
                labels,
                namespace,
                {"ns": namespace},
                default_selector(services, labels, controller),
            )
        return self.shapes[key]


def differences(theirs: list[Step], ours: list[Step]) -> Iterator[str]:
    """The first difference."""
    for i, (one, other) in enumerate(zip(theirs, ours, strict=True)):
        if one[1].keys() != other[1].keys():
            yield f"nodes with room in step {i}: {sorted(one[1])}, the simulator {sorted(other[1])}"
            return
        for node, scores in one[1].items():
            for plugin in sorted(scores.keys() | other[1][node].keys()):
                is_, found = scores.get(plugin, 0), other[1][node].get(plugin, 0)
                if is_ != found:
                    yield f"{plugin} of {node} in step {i}: {is_}, the simulator {found}"
                    return
        if one[2] != other[2]:
            yield f"reasons in step {i}: {one[2]}, the simulator {other[2]}"
            return
        if one[3] != other[3]:
            yield f"victims in step {i}: {one[3]}, the simulator {other[3]}"
            return
        if one[0] != other[0]:
            yield f"node in step {i}: {one[0]}, the simulator {other[0]}"
            return


def compared(first: int, count: int) -> Iterator[tuple[int, str]]:
    """The seeds whose scenarios differ, and where."""
    seeds = range(first, first + count)
    scenarios = [drawn(it) for it in seeds]
    for seed, scenario, theirs in zip(seeds, scenarios, real(scenarios), strict=True):
        for difference in differences(theirs, simulated(scenario)):
            yield seed, difference


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = list(compared(options.seed * 10**6, options.count))
    kinds = Counter(difference.split()[0] for _, difference in found)
    print(f"{options.count} scenarios, {len(found)} differ {dict(kinds)}")
    for seed, difference in found[:SHOWN]:
        print(seed, difference, file=sys.stdout)


if __name__ == "__main__":
    main()
