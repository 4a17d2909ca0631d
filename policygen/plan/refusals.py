"""Requirements of a spec that no rendering can meet, other than the sums of the tree: errors."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from policygen.core import versions
from policygen.core.finding import Hit
from policygen.plan import rules
from policygen.plan.amounts import CPU
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Tree, shares
from policygen.spec.types import Spec, Team


def check(spec: Spec, trees: Sequence[Tree]) -> Iterator[Hit]:
    """The errors of requirements that no rendering can meet."""
    yield from _depth(trees)
    pools = {team: [facts for facts, _ in found] for team, found in shares(trees).items()}
    for team in spec.teams:
        yield from _added_up(team, pools.get(team.name, ()))
    for team in spec.teams:
        counted = [
            facts.name
            for facts in pools.get(team.name, ())
            if facts.pool.quota_cpu_and_memory and facts.scheduler == "kube-scheduler"
        ]
        if counted and not (team.container_defaults or spec.platform.container_defaults):
            yield Hit(
                rules.CONTAINER_DEFAULTS_MISSING,
                f'team "{team.name}": pool "{counted[0]}" has quotaCpuAndMemory, so containers without '
                "requests would be rejected; write containerDefaults {cpu, memory} for the team or "
                "in the Platform's defaults",
                team.at / "metadata" / "name",
            )


def _depth(trees: Sequence[Tree]) -> Iterator[Hit]:
    for tree in trees:
        if tree.scheduler != "volcano":
            continue
        for node in tree.nodes:
            # The pool's own queue is above the root teams.
            if node.depth + 1 > versions.VOLCANO_QUEUE_DEPTH and node.name == node.team.name:
                yield Hit(
                    rules.VOLCANO_TREE_TOO_DEEP,
                    f'team "{node.name}" is at queue depth {node.depth + 1} in pool "{tree.queue}", but '
                    f"Volcano allows {versions.VOLCANO_QUEUE_DEPTH}; move it up",
                    node.team.at / "spec" / "parent",
                )


def _added_up(team: Team, pools: Iterable[PoolFacts]) -> Iterator[Hit]:
    """Pools of a team that a ResourceQuota, which counts by resource name, adds up."""
    owners: defaultdict[str, list[PoolFacts]] = defaultdict(list)
    for facts in pools:
        for resource in (*facts.resources, CPU):
            owners[resource].append(facts)
    for resource, sharing in owners.items():
        limited = [
            facts
            for facts in sharing
            if facts.scheduler == "kube-scheduler"
            and (resource != CPU or facts.pool.quota_cpu_and_memory)
        ]
        if not limited or len(sharing) == 1:
            continue
        first = limited[0]
        second = next(facts for facts in sharing if facts is not first)
        both = f'team "{team.name}" has quotas of pools "{first.name}" and "{second.name}"'
        if resource == CPU:
            rule = rules.QUOTA_COUNTS_OTHER_POOLS
            message = (
                f"{both}, and pods of both use the cpu and memory of the ResourceQuota for "
                f'"{first.name}"; use two teams, or remove quotaCpuAndMemory'
            )
        else:
            rule = rules.QUOTA_CANNOT_TELL_POOLS_APART
            message = (
                f'{both}, and the ResourceQuota for "{first.name}" would count {resource} of both '
                "together; use two teams, or another resource name"
            )
        yield Hit(rule, message, team.quota_at(second.name))
