"""Does a whole platform end as `policygen simulate` says? Drawn specs and jobs on the real servers.

    python -m tests.servers.platforms --count 40 --seed 7

renders drawn specs, applies them, and lets 50 to 90 Jobs arrive, one after the other; some of those that
run end. Now and then, once nothing changes any more, the Jobs that Kueue admits and their flavors must be
those of the simulation, and so must the Jobs of which all pods have a node. Where chance decides, one seed
must have the same results from the start to the end.
"""

from __future__ import annotations

import argparse
import calendar
import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, nullcontext

import yaml
from msgspec.structs import replace

from policygen.core.finding import At
from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster as ClusterObjects
from policygen.kubernetes.kueue_settings import first
from policygen.kubernetes.object import Object as KubernetesObject
from policygen.simulate.arrival import Arrival
from policygen.simulate.over_time.agenda import TimelineEvent
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_pools import cluster_nodes, flavor_pools
from policygen.simulate.scene_schedulers import timeline
from policygen.simulate.timeline import Timeline

from .bench import EVERYTHING, VOLCANO, Bench, Options
from .build import located
from .client import Object
from .cluster import KUEUE, Cluster, gpus, holds, owner
from .platform_draws import DrawnPlatform, drawn
from .platform_looks import SEEDS, Admitted, Look, Played, differences
from .rendering import Rendered, rendered
from .slate import Slate
from .upstream import control_plane

EVENT_S = 17.0
"""Between two events of the simulation, so that it can find a livelock. 100 are shorter than Kueue waits for pods."""
COMPARED_EVERY = 10
"""Events."""
SHORT = 0.25
"""This part of the time without a change is enough if no quota became free."""
POLL_S = 0.1
SLOW_LOOK_S = 0.2
"""A look takes less without load."""
SECONDS = 1000.0
"""More than the servers take for a platform."""


class PlatformRun:
    """A platform on the servers and in the simulation."""

    def __init__(self, cluster: Cluster, drawn_platform: DrawnPlatform, quiet_s: float) -> None:
        self.cluster = cluster
        self.platform = drawn_platform
        self.quiet_s = quiet_s
        self.out: Rendered = rendered(drawn_platform.documents)
        self.configuration = yaml.safe_load(self.out.kueue_config) if drawn_platform.fair else None
        self.submitted: dict[str, float] = {}
        """When each Job arrives in the simulation, by namespace and name."""
        self.ended: dict[str, float] = {}
        self.pods: dict[str, int] = {}
        """How many each Job has."""
        self.workloads: dict[str, Object] = {}
        """By Job."""
        self.nodes: list[Object] = []
        self.seeds = list(range(SEEDS))
        self.reserved: list[Mapping[str, float]] = []
        """The second at which Kueue admitted each Job, after each event."""
        self.looks: list[tuple[float, Look]] = []
        """What was compared, and when."""
        self.agreed: Counter[int] = Counter()
        """The number of looks that each seed has agreed with."""
        self.found = Played()

    def play(self) -> Played:
        """Run it until the first difference."""
        with self.cluster.kueue(self.configuration) if self.configuration else nullcontext():
            self.cluster.apply(self.out.text)
            for facts in self.out.pools.values():
                self.cluster.add_nodes(facts)
            self.nodes = self.cluster.objects("v1", "Node")
            before, events = Look({}, frozenset()), self.platform.events
            for i, event in enumerate(events):
                at = i * EVENT_S
                if event is not None:
                    self._submit(event, at)
                else:
                    self._end_one(before, at)
                before = self._settled(before)
                self.reserved.append(before.reserved)
                if i == len(events) - 1 or i % COMPARED_EVERY == COMPARED_EVERY - 1:
                    self._compare(before, at)
                if self.found.differences or self.found.livelock:
                    break
        return self.found

    def _submit(self, made: Object, at: float) -> None:
        name = _name(made)
        self.submitted[name], self.pods[name] = at, made["spec"]["parallelism"]
        self.cluster.create(made)
        self.cluster.until("Workload", lambda: self._is_known(name))
        self.found.jobs += 1

    def _is_known(self, name: str) -> bool:
        """Whether Kueue has made the Workload of a Job."""
        for it in self.cluster.objects(KUEUE, "Workload", name.partition("/")[0]):
            if f"{it['metadata']['namespace']}/{owner(it)}" == name:
                self.workloads[name] = it
                return True
        return False

    def _end_one(self, look: Look, at: float) -> None:
        """Delete a Job that runs on the servers and in the simulation."""
        simulated = self._simulated(self.seeds[0], at - EVENT_S / 2)
        running = sorted(look.placed & simulated.placed)
        if running:
            name = random.Random(len(self.submitted)).choice(running)
            self.ended[name] = at
            namespace, _, own = name.partition("/")
            self.cluster.delete("batch/v1", "Job", own, namespace)
            self.found.ends += 1

    # What the servers do

    def _settled(self, before: Look) -> Look:
        """What holds once nothing has changed for a while.

        Kueue tries others again a second after quota became free. It orders Jobs by the seconds at which they
        were created and admitted, so the next event is in another second.
        """
        seen, since = self._look(), time.time()
        leaves: dict[str, float] = {}
        looks = 0
        while True:
            freed = (
                seen.evictions > before.evictions
                or not before.admitted.keys() <= seen.admitted.keys()
            )
            now = time.time()
            quiet_s = self.quiet_s * (1 if freed else SHORT)
            # A busy machine makes Kueue slow, and these looks, too.
            enough = now - since > quiet_s and looks > quiet_s / SLOW_LOOK_S
            if enough and int(now) > int(since) and not seen.leaving:
                return seen
            leaves = {it: leaves.get(it, now) for it in seen.leaving}
            slowest = max((now - it for it in leaves.values()), default=0.0)
            self.found.slowest = max(self.found.slowest, slowest)
            self.cluster.check_alive()
            time.sleep(POLL_S)
            look = self._look()
            looks += 1
            if look != seen:
                seen, since, looks = look, time.time(), 0

    def _look(self) -> Look:
        admitted: Admitted = {}
        reserved: dict[str, float] = {}
        leaving = set()
        evictions = 0
        for it in self.cluster.objects(KUEUE, "Workload"):
            status = it.get("status", {})
            stats = status.get("schedulingStats", {}).get("evictions", ())
            evictions += sum(each["count"] for each in stats)
            if holds(it, "QuotaReserved"):
                name = f"{it['metadata']['namespace']}/{owner(it)}"
                sets = status["admission"]["podSetAssignments"]
                admitted[name] = frozenset(
                    flavor for each in sets for flavor in each["flavors"].values()
                )
                reserved[name] = next(
                    _seconds(each["lastTransitionTime"])
                    for each in status["conditions"]
                    if each["type"] == "QuotaReserved"
                )
                if holds(it, "Evicted"):
                    leaving.add(name)
        placed: Counter[str] = Counter()
        for it in self.cluster.pods():
            if it["spec"].get("nodeName") and gpus(it):
                metadata = it["metadata"]
                placed[f"{metadata['namespace']}/{metadata['labels']['job-name']}"] += 1
        complete = frozenset(it for it, count in placed.items() if count == self.pods[it])
        return Look(admitted, complete, evictions, reserved=reserved, leaving=frozenset(leaving))

    def _compare(self, theirs: Look, at: float) -> None:
        found = self.found
        found.compared += 1
        found.preempted, found.admitted = theirs.evictions, len(theirs.admitted)
        self.looks.append((at + EVENT_S / 2, theirs))
        alike: list[int] = []
        for seed in self.seeds.copy():
            ours = self._last(seed)
            if ours.livelock:
                found.livelock = True
                return
            if ours.admitted != theirs.admitted:
                found.differences = found.differences or [
                    *differences(theirs.admitted, ours.admitted)
                ]
                self.seeds.remove(seed)
                continue
            alike.append(seed)
            if ours.placed == theirs.placed:
                found.placed += 1
                self.seeds.remove(seed)
                self.seeds.insert(0, seed)
                break
        if alike:
            found.differences = []
        found.seeds = len(self.seeds)

    def _last(self, seed: int) -> Look:
        """The simulation at the last look, or at the first one that differs."""
        while True:
            at, theirs = self.looks[self.agreed[seed]]
            ours = self._simulated(seed, at)
            is_last = self.agreed[seed] == len(self.looks) - 1
            if is_last or ours.livelock or ours.admitted != theirs.admitted:
                self.agreed[seed] += is_last
                return ours
            self.agreed[seed] += 1

    # What the simulation does

    def _simulated(self, seed: int, until: float) -> Look:
        admitted: Admitted = {}
        placed = set()
        made = self._runs(seed, until)
        for it in made.jobs:
            if it.ended is None and it.workload is not None and it.workload.admission is not None:
                sets = it.workload.admission.pod_sets
                admitted[it.arrival.name] = frozenset(
                    flavor for each in sets for flavor in each.flavors.values()
                )
                if it.running:
                    placed.add(it.arrival.name)
        return Look(admitted, frozenset(placed), livelock=bool(made.livelocks))

    def _runs(self, seed: int, until: float) -> Timeline:
        scene = self.scene()
        made = timeline(scene, self.arrivals(scene), seed=seed)
        jobs = {it.arrival.name: it for it in made.jobs}
        ends = {at: jobs[name] for name, at in self.ended.items()}
        for i, reserved in enumerate(self.reserved):
            at = i * EVENT_S
            if at >= until:
                break
            if at in ends:
                # Without a duration: a job that began again would also end earlier, in its first run.
                made.agenda.add(at, TimelineEvent.END, ends[at].index, round_=ends[at].round)
            _run(made, min(at + EVENT_S / 2, until))
            _reserve_at(made, at, reserved)
        return made

    def scene(self) -> Scene:
        """The rendered objects, the nodes, and the Workloads without what Kueue decided."""
        waiting = [
            {
                "apiVersion": KUEUE,
                "kind": "Workload",
                "metadata": it["metadata"],
                "spec": it["spec"],
            }
            for it in self.workloads.values()
        ]
        namespaces = [
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": it, "labels": {"kubernetes.io/metadata.name": it}},
            }
            for it in sorted({name.partition("/")[0] for name in self.submitted})
        ]
        plain = [{"apiVersion": "v1", "kind": "Node", **it} for it in self.nodes]
        settings = [self.configuration] if self.configuration else []
        data: Iterable[Object] = (*settings, *self.out.objects, *plain, *namespaces, *waiting)
        objects = (KubernetesObject.read(it, At(0, ())) for it in data)
        found = ClusterObjects(it for it in objects if it is not None)
        listed = cluster_nodes(found)
        return Scene(found, first(found, DEFAULT["kueue"]), listed, flavor_pools(found, listed))

    def arrivals(self, scene: Scene) -> list[Arrival]:
        """The jobs, at the times at which they arrive in the simulation."""
        found = []
        for it in arrivals(scene):
            assert it.workload is not None
            created = self.workloads[it.name]["metadata"]["creationTimestamp"]
            it.workload.created = _seconds(created)
            found.append(replace(it, at=self.submitted[it.name]))
        return sorted(found, key=lambda it: it.at)


def _reserve_at(made: Timeline, at: float, reserved: Mapping[str, float]) -> None:
    """Give Jobs that one event admitted the order of their seconds on the servers.

    Kueue preempts the one first that was admitted in a later second, and of one second that with the smaller UID.
    For the simulation, an event takes no time. On the servers, a second can begin between two admissions.
    """
    began = min(reserved.values(), default=0.0)
    for it in made.jobs:
        workload, second = it.workload, reserved.get(it.arrival.name)
        if workload is None or workload.admission is None or second is None:
            continue
        if workload.admission.at >= at:
            after = (second - began) / SECONDS
            workload.admission = replace(workload.admission, at=at + after)


def _seconds(written: str) -> float:
    return float(calendar.timegm(time.strptime(written, "%Y-%m-%dT%H:%M:%SZ")))


def _run(made: Timeline, until: float) -> None:
    made.until = until
    for _ in made.run():
        pass


def _name(made: Object) -> str:
    return f"{made['metadata']['namespace']}/{made['metadata']['name']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--events", type=int, nargs=2, default=(60, 100))
    parser.add_argument("--quiet", type=float, default=3.0, help="seconds without a change")
    options = parser.parse_args()
    equal = starved = 0
    with ExitStack() as stack:
        built = {it.name: located(it) for it in control_plane()}
        bench = stack.enter_context(Bench(built, Options(parts=EVERYTHING - {VOLCANO})))
        slate = Slate(bench.client, bench.etcd)
        stack.callback(slate.close)
        for seed in range(options.seed, options.seed + options.count):
            began = time.monotonic()
            platform_ = drawn(seed, tuple(options.events))
            found = PlatformRun(Cluster(bench), platform_, options.quiet).play()
            equal += not found.differences
            starved += found.starved and bool(found.differences)
            print(f"{seed}: {found}, {time.monotonic() - began:.0f} s", flush=True)
            slate.clean()
    print(f"{options.count} platforms from seed {options.seed}: {equal} equal, {starved} starved")


if __name__ == "__main__":
    main()
