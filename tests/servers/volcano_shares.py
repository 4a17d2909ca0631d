"""Do Volcano's queues end with the GPUs that `policygen simulate` says? Drawn specs and jobs on the real servers.

    python -m tests.servers.volcano_shares --count 10 --seed 7

renders drawn specs for Volcano and lets Jobs arrive, one after the other, that borrow, reclaim and start as
gangs. Once nothing changes any more, each queue must hold as many GPUs as in the simulation. Where chance
decides, one seed must have the same results from the start to the end.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack

from msgspec.structs import replace

from policygen.core.finding import At
from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster as ClusterObjects
from policygen.kubernetes.kueue_settings import first
from policygen.kubernetes.manifests import inside
from policygen.kubernetes.object import Object as KubernetesObject
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_pools import cluster_nodes, flavor_pools
from policygen.simulate.scene_schedulers import timeline

from .bench import Bench
from .build import located
from .client import Object
from .cluster import Cluster
from .rendering import Rendered
from .slate import Slate
from .upstream import control_plane
from .volcano_specs import pool, team, volcano
from .workloads import Ask, vcjob

EVENT_S = 5.0
SEEDS = 20
QUIET_S = 5.0
MOST_S = 90.0
POLL_S = 0.2
GPUS_OF_NODE = 8
Shares = dict[str, int]
"""The GPUs in use of each team."""


def drawn(seed: int) -> tuple[Rendered, list[Object]]:
    """Two to four teams that share a pool, and the Jobs that arrive."""
    r = random.Random(seed)
    nodes = r.randint(2, 4)
    left, teams = nodes * GPUS_OF_NODE, [f"t{i}" for i in range(r.randint(2, 4))]
    documents = [pool(nodes)]
    for it in teams:
        guarantee = min(left, r.choice([0, 4, 8, 8, 12]))
        left -= guarantee
        quota = {"guarantee": guarantee, "weight": r.randint(1, 3)}
        if r.random() < 0.3:
            quota["limit"] = min(guarantee + 8, nodes * GPUS_OF_NODE)
        documents.append(team(it, quota))
    jobs = []
    for i in range(r.randint(4, 8)):
        owner, ask = r.choice(teams), Ask(gpus=r.choice([1, 2, 2, 4]))
        pods = r.randint(1, 16) // ask.gpus + 1
        least = r.choice([1, pods, max(1, pods // 2)])
        queue = f"{owner}.train"
        jobs.append(vcjob(f"j{i}", owner, ask, pods=pods, min_available=least, queue=queue))
    return volcano(*documents), jobs


def played(cluster: Cluster, seed: int) -> tuple[int, str]:
    """The number of comparisons, and the first difference."""
    out, jobs = drawn(seed)
    cluster.apply(out.text)
    for facts in out.pools.values():
        cluster.add_nodes(facts)
    nodes = cluster.objects("v1", "Node")
    teams = sorted({it["metadata"]["namespace"] for it in jobs})
    seeds, seen = list(range(SEEDS)), []
    assert out.volcano_config
    with cluster.volcano(out.volcano_config):
        for i, job in enumerate(jobs):
            cluster.create(job)
            theirs, quiet = _settled(cluster, teams)
            if not quiet:
                return i, f"after {i + 1} jobs: Volcano does not stop evicting"
            seen.append(theirs)
            ours = {it: list(_simulated(out, nodes, jobs[: i + 1], teams, it)) for it in seeds}
            seeds = [it for it in seeds if ours[it] == seen]
            if not seeds:
                return i, f"after {i + 1} jobs: Volcano {theirs}, the simulation {ours[0][-1]}"
    return len(jobs), ""


def _settled(cluster: Cluster, teams: list[str]) -> tuple[Shares, bool]:
    """The shares once they have not changed for a while; false: they still change."""
    began = since = time.monotonic()
    before: object = None
    while True:
        now = {it: cluster.bound(it) for it in teams}
        uids = sorted(it["metadata"]["uid"] for it in cluster.pods() if it["spec"].get("nodeName"))
        if (now, uids) != before:
            before, since = (now, uids), time.monotonic()
        if time.monotonic() - since > QUIET_S:
            return now, True
        if time.monotonic() - began > MOST_S:
            return now, False
        cluster.check_alive()
        time.sleep(POLL_S)


def _simulated(
    out: Rendered, nodes: list[Object], jobs: list[Object], teams: list[str], seed: int
) -> Iterator[Shares]:
    """The shares after each job."""
    names = {
        f"{it['metadata']['namespace']}/{it['metadata']['name']}": i for i, it in enumerate(jobs)
    }
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": it}} for it in teams
    ]
    plain = [{"apiVersion": "v1", "kind": "Node", **it} for it in nodes]
    data = (*out.objects, *namespaces, *plain, *jobs)
    read = (KubernetesObject.read(it, At(i, ())) for i, it in enumerate(data))
    objects = [it for it in read if it is not None]
    files = inside(objects, first_index=len(objects)).objects
    found = ClusterObjects((*objects, *files))
    listed = cluster_nodes(found)
    scene = Scene(found, first(found, DEFAULT["kueue"]), listed, flavor_pools(found, listed))
    them = [replace(it, at=names[it.name] * EVENT_S) for it in arrivals(scene)]
    made = timeline(scene, sorted(them, key=lambda it: it.at), seed=seed)
    for i in range(len(jobs)):
        made.until = (i + 0.5) * EVENT_S
        for _ in made.run():
            pass
        shares = dict.fromkeys(teams, 0)
        for it in made.jobs:
            for shape, _ in it.bound:
                shares[it.arrival.name.partition("/")[0]] += dict(shape.requests).get(
                    "nvidia.com/gpu", 0
                )
        yield shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    equal = 0
    with ExitStack() as stack:
        bench = stack.enter_context(Bench({it.name: located(it) for it in control_plane()}))
        slate = Slate(bench.client, bench.etcd)
        stack.callback(slate.close)
        for seed in range(options.seed, options.seed + options.count):
            compared, difference = played(Cluster(bench), seed)
            equal += not difference
            print(f"{seed}: {compared} comparisons; {difference or 'equal'}", flush=True)
            slate.clean()
    print(f"{options.count} platforms from seed {options.seed}: {equal} equal")


if __name__ == "__main__":
    main()
