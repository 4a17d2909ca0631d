"""Requirements of a spec that no rendering can meet, other than the sums of the tree: errors."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from policygen.core import versions
from policygen.core.finding import Hit
from policygen.core.names import NODE_GROUP
from policygen.plan import rules
from policygen.plan.amounts import CPU, MEMORY, amount_of
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Tree, shares
from policygen.spec.types import Spec, Team


def check(spec: Spec, pools: Iterable[PoolFacts], trees: Sequence[Tree]) -> Iterator[Hit]:
    """The errors of requirements that no rendering can meet."""
    yield from _mutating_policy(spec)
    yield from _volcano_pools(pools)
    yield from _depth(trees)
    pools_of = {team: [facts for facts, _ in found] for team, found in shares(trees).items()}
    for team in spec.teams:
        yield from _added_up(team, pools_of.get(team.name, ()))
    for team in spec.teams:
        yield from _defaults(team, spec, pools_of.get(team.name, ()))
        counted = [
            facts.name
            for facts in pools_of.get(team.name, ())
            if facts.pool.quota_cpu_and_memory and facts.scheduler == "kube-scheduler"
        ]
        if counted and not (team.container_defaults or spec.platform.container_defaults):
            yield Hit(
                rules.CONTAINER_DEFAULTS_MISSING,
                f'pool "{counted[0]}" has quotaCpuAndMemory, so containers of team "{team.name}" '
                "without cpu and memory requests would be rejected; write containerDefaults {cpu, "
                "memory} for the team, or in the Platform's defaults",
                team.at / "metadata" / "name",
            )


def _mutating_policy(spec: Spec) -> Iterator[Hit]:
    platform = spec.platform
    version = platform.target.kubernetes
    if platform.admission.defaults and version.release < versions.MUTATING_POLICIES:
        yield Hit(
            rules.ADMISSION_DEFAULTS_NOT_SERVED,
            f"spec.admission.defaults needs MutatingAdmissionPolicy, which Kubernetes {version} does "
            f"not serve; remove it, or use a target of {versions.written(versions.MUTATING_POLICIES)} "
            "or later",
            platform.at and platform.at.to("spec", "admission", "defaults"),
        )


def _defaults(team: Team, spec: Spec, pools: Sequence[PoolFacts]) -> Iterator[Hit]:
    """Default requests of containers that are larger than every node of a team's pools."""
    default = team.container_defaults or spec.platform.container_defaults
    if default is None or not pools:
        return
    for resource, request, nodes in (
        (CPU, default.cpu_milli, [facts.node.cpu_milli for facts in pools]),
        (MEMORY, default.memory_bytes, [facts.node.memory_bytes for facts in pools]),
    ):
        largest = max(nodes)
        pool = pools[nodes.index(largest)].pool
        if request > largest:
            yield Hit(
                rules.CONTAINER_DEFAULTS_EXCEED_NODE,
                f'containers of team "{team.name}" without requests get {amount_of(resource, request, largest)} '
                f"by containerDefaults, but a node of its pools has at most "
                f"{amount_of(resource, largest, request)}; lower containerDefaults",
                team.at / "spec" / "containerDefaults" / resource
                if team.container_defaults
                else team.at / "metadata" / "name",
                related=(pool.at,),
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
                    f'the queue of team "{node.name}" is nested {node.depth + 1} levels deep in '
                    f'pool "{tree.queue}", but Volcano allows at most '
                    f"{versions.VOLCANO_QUEUE_DEPTH} levels; write a parent nearer to the root in spec.parent",
                    node.team.at / "spec" / "parent",
                )


def _added_up(team: Team, pools: Iterable[PoolFacts]) -> Iterator[Hit]:
    """Hits for pools of a team that one ResourceQuota counts together, since their resource names are equal."""
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
        if resource == CPU:
            rule = rules.QUOTA_COUNTS_OTHER_POOLS
            message = (
                f'team "{team.name}" has quotas for pools "{first.name}" and "{second.name}", and '
                f'the ResourceQuota for "{first.name}" counts the cpu and memory of the pods in '
                "both pools; use two teams, or remove quotaCpuAndMemory"
            )
        else:
            rule = rules.QUOTA_CANNOT_TELL_POOLS_APART
            message = (
                f'team "{team.name}" has quotas for pools "{first.name}" and "{second.name}", but the '
                f'ResourceQuota for "{first.name}" counts {resource} of both pools together; use two '
                "teams, or give one pool another resource name"
            )
        yield Hit(rule, message, team.quota_at(second.name))


def _volcano_pools(pools: Iterable[PoolFacts]) -> Iterator[Hit]:
    """Volcano has one scheduler configuration for all pools, and its queues count resources by name."""
    volcano = [facts for facts in pools if facts.scheduler == "volcano"]
    owners: defaultdict[str, dict[str | None, PoolFacts]] = defaultdict(dict)
    for facts in volcano:
        first = volcano[0]
        if (
            facts.policy.bin_pack != first.policy.bin_pack
            or facts.policy.spread != first.policy.spread
        ):
            yield Hit(
                rules.VOLCANO_PACK_AND_SPREAD,
                f'pool "{facts.name}" and pool "{first.name}" differ in binPack or spread, but '
                "Volcano has one setting for all its pools; write the same values for both pools",
                (facts.pool.at / "spec" / "schedulingPolicy").on_key(),
            )
        for resource in facts.resources:
            # Only queues of different node groups are separate; one without a group uses every node.
            group = facts.node_group or None
            others = owners[resource]
            near = others.get(None) or others.get(group)
            other = near if group else next(iter(others.values()), None)
            others.setdefault(group, facts)
            if other:
                yield Hit(
                    rules.VOLCANO_RESOURCE_SHARED,
                    f'pool "{facts.name}" and pool "{other.name}" both have {resource}, and '
                    f"Volcano's queues cannot separate their nodes; write the label {NODE_GROUP} "
                    "with different values in both nodeSelectors",
                    (facts.pool.at / "spec" / "nodeSelector").on_key(),
                )
