"""What `explain` answers about a team, a model or a pool of a spec."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.quoting import counted, listed
from policygen.explain import overview, queues, quotas
from policygen.explain.overview import ModelRow, PoolRow, TeamRow
from policygen.explain.step import Step
from policygen.hardware import sizing
from policygen.hardware.sizing import MemoryDemand
from policygen.plan import demand, explanation
from policygen.plan.amounts import HOST, Vector, amount_of, readable_bytes
from policygen.plan.assignment import Assignment, ModelPlacement
from policygen.plan.decisions import Decisions
from policygen.plan.pool import PoolFacts
from policygen.plan.replicas import range_of
from policygen.plan.volcano import deserved_amounts
from policygen.spec.types import Model


class Section(Struct, frozen=True):
    """A part of an answer: lines, or steps."""

    title: str
    lines: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()


class NameAnswer(Struct, frozen=True):
    """The answer about a name of the spec."""

    title: str
    at: At
    sections: tuple[Section, ...]

    @property
    def places(self) -> tuple[At, ...]:
        """The places in the spec that it names."""
        steps = [it.at for section in self.sections for it in section.steps if it.at is not None]
        return tuple(dict.fromkeys((self.at, *steps)))


def team(decided: Decisions, name: str) -> NameAnswer:
    """The quotas, models and borrowing of a team."""
    it = next(it for it in decided.spec.teams if it.name == name)
    children = [other.name for other in decided.spec.teams if other.parent == name]
    about = [f"namespaces: {_names([each.name for each in it.namespaces])}"]
    about += [f"parent: {it.parent}"] if it.parent else []
    about += [f"children: {_names(children)}"] if children else []
    sections = [Section("About", tuple(about))]
    for pool in overview.overview(decided).pools:
        rows = [row for row in pool.teams if row.team == name]
        if rows:
            sections.append(Section(f"In pool {pool.name}", tuple(_quota(pool, rows))))
            sections.append(
                Section(
                    f"How its amounts in pool {pool.name} are computed",
                    (),
                    _steps(decided, name, pool),
                )
            )
    return NameAnswer(f"Team {name}", it.at.to("metadata", "name"), tuple(sections))


def pool(decided: Decisions, name: str) -> NameAnswer:
    """The nodes, teams and models of a pool."""
    facts = next(it for it in decided.pools if it.name == name)
    row = next(it for it in overview.overview(decided).pools if it.name == name)
    steps = [step for resource in facts.keys for step in quotas.available(facts, resource)]
    spec = facts.pool.at / "spec"
    about = [
        Step("scheduler", facts.scheduler, at=spec / "scheduler"),
        Step(
            "GPU",
            facts.product.id if facts.product else "unknown",
            at=spec.to("gpu", "product"),
            note=f"{readable_bytes(facts.memory_bytes)} usable" if facts.memory_bytes else "",
        ),
        *_policies(facts),
    ]
    teams = [_line(row, it) for it in row.teams]
    models = [_model(it) for it in row.models]
    return NameAnswer(
        f"Pool {name}",
        facts.pool.at.to("metadata", "name"),
        (
            Section("About", (), tuple(about)),
            Section("What its teams can use together", (), tuple(dict.fromkeys(steps))),
            Section("Teams", tuple(teams)),
            *([Section("Models without a team", tuple(models))] if models else []),
            Section("Not guaranteed to any team", (_amounts(row.rest),)),
            Section("Not used by models that run all the time", (_free(row, row),)),
        ),
    )


def model(decided: Decisions, name: str) -> NameAnswer:
    """Where a model runs and why, how its size is computed, and which other pools fit."""
    found = next(it for it in decided.workloads.placements if it.model.name == name)
    sections = [Section("Where it runs", tuple(_placed(found)))]
    workload = demand.demand(found.model)
    if found.chosen is not None:
        sections.append(_size(found.chosen, workload))
    if workload is not None:
        assumed = demand.assumptions(found.model, workload)
        if assumed:
            sections.append(Section("Assumed, because the spec does not set it", assumed))
    others = [_option(it) for it in found.options[1:]]
    others += [f"not pool {it.pool}: {it.text}" for it in found.rejected]
    if others:
        sections.append(Section("Other pools", tuple(others)))
    return NameAnswer(f"Model {name}", found.model.at.to("metadata", "name"), tuple(sections))


def _placed(found: ModelPlacement) -> Iterator[str]:
    chosen, it = found.chosen, found.model
    if chosen is None:
        yield "on no pool"
        return
    yield f"on {chosen.place} ({chosen.facts.scheduler}), because {explanation.because(found.options)}"
    if chosen.queue is not None and chosen.namespace is not None:
        queued = chosen.tree.scheduler != "kube-scheduler"
        place = f"in queue {chosen.queue}, " if queued else "without a queue, in "
        yield f"{place}namespace {chosen.namespace.name}"
    pieces = "gang" if it.gang is not None else "replica"
    replicas = chosen.replicas
    yield f"{counted(range_of(it, replicas), pieces)} of {_amounts(replicas.piece)}"


def _size(chosen: Assignment, workload: MemoryDemand | None) -> Section:
    """How many units a replica takes, and why."""
    it, units = chosen.model, chosen.size.units
    title = "How its size is computed"
    resources = it.field("resources")
    end = Step(f"{chosen.size.resource} of a replica", str(units))
    if it.gpus is not None:
        return Section(title, (), (Step(end.name, end.value, at=resources / "gpus"),))
    memory = chosen.memory
    if workload is None or memory.needed is None:
        return Section(title, (), (end,))
    last = []
    if memory.taken is not None:
        one = readable_bytes(memory.taken // units, memory.needed)
        least = (
            "number"
            if workload.any_count or chosen.facts.pool.gpu.sharing != "none"
            else "power of 2"
        )
        note = f"the least {least} with at least {readable_bytes(memory.needed, memory.taken)}"
        last = [
            Step(
                f"memory of {counted(units, 'unit')}",
                readable_bytes(memory.taken, memory.needed),
                f"{units} × {one}",
            ),
        ]
        end = Step(end.name, end.value, note=note)
    if it.gpu_memory_bytes is not None:
        at = resources / "gpuMemory"
        needed = Step("GPU memory of a replica", readable_bytes(memory.needed), at=at)
        return Section(title, (), (needed, *last, end))
    return Section(title, (), (*_memory_steps(it, workload, units), *last, end))


def _memory_steps(it: Model, workload: MemoryDemand, units: int) -> Iterator[Step]:
    at = it.field("size" if it.size else "family")
    needed = readable_bytes(sizing.needed_bytes(workload, units) or 0)
    computed = demand.parts(workload)
    if computed is not None:
        yield Step("GPU memory of a pod", needed, computed, at=at)
        return
    weights, kv = sizing.weights_bytes(workload) or 0, sizing.kv_bytes(workload, units) or 0
    each = sizing.device_bytes(workload)
    facts = workload.facts
    yield Step(
        f"weights in {workload.precision}",
        readable_bytes(weights),
        at=at,
        note=f"{facts.parameters:,} parameters" if facts else "",
    )
    tokens = f"{workload.concurrency} × {workload.context_length} tokens in {workload.kv_precision}"
    yield Step("KV cache", readable_bytes(kv), note=tokens, at=it.field("sizing"))
    yield Step("runtime on each GPU", readable_bytes(each), at=it.field("sizing") / "runtimeMemory")
    formula = (
        f"({readable_bytes(weights)} + {readable_bytes(kv)} + {units} × {readable_bytes(each)}) / "
        f"{workload.utilisation}%"
    )
    yield Step("GPU memory of a replica", needed, formula)


def _option(it: Assignment) -> str:
    unused = ""
    if it.memory.taken is not None and it.memory.needed is not None:
        left = it.memory.taken - it.memory.needed
        unused = f", {readable_bytes(abs(left))} {'unused' if left >= 0 else 'too few'}"
    return f"{it.place} fits: {it.size.units} {it.size.resource} for a replica{unused}"


def _quota(pool: PoolRow, rows: Sequence[TeamRow]) -> Iterator[str]:
    for row in rows:
        who = f"{row.name}: " if len(rows) > 1 else ""
        yield f"{who}guarantee {_amounts(row.guarantee)}"
        if row.deserved:
            yield f"{who}deserved {_amounts(row.deserved)}"
        yield f"{who}limit {_amounts(row.limit)}"
        yield f"{who}weight {row.weight}"
        for it in row.models:
            yield f"{who}runs {_model(it)}"
        if row.borrows_from:
            yield f"{who}can borrow from {_names(row.borrows_from)}"
        if row.evicts:
            what = "use what it deserves" if row.deserved else "borrow its guarantee"
            yield f"{who}can evict workloads that {what}: of {_names(row.evicts)}"
        if row.leaf:
            yield f"{who}no model uses all the time: {_free(pool, row)} of the guarantee"


def _line(pool: PoolRow, row: TeamRow) -> str:
    """The GPUs of a team, and its models."""
    parts = [
        f"guarantee {row.guarantee[it]}"
        + (f", deserved {row.deserved[it]}" if row.deserved else "")
        + f", limit {row.limit[it]} {it}"
        for it in pool.resources
    ]
    models = [_model(it) for it in row.models]
    return "; ".join([f"{row.name}: {', '.join(parts)}, weight {row.weight}", *models])


def _model(it: ModelRow) -> str:
    taken = ", ".join(f"{amount} {name}" for name, amount in it.devices)
    return f"model {it.name}: {it.replicas} × {taken}"


def _steps(decided: Decisions, name: str, pool: PoolRow) -> tuple[Step, ...]:
    tree = next(it for it in decided.trees if it.queue == pool.queue)
    facts = next(it for it in tree.pools if it.name == pool.name)
    node = tree.by_team[name]
    steps = [
        step
        for resource in facts.keys
        for of in (quotas.guarantee, quotas.limit)
        for step in of(tree, node, facts, resource)
    ]
    steps.append(quotas.weight(node, facts))
    if tree.scheduler == "volcano":
        amounts = deserved_amounts(tree)
        for resource in (*facts.resources, *HOST):
            steps += queues.deserved(tree, amounts, node, facts, resource)
    return tuple(dict.fromkeys(steps))


def _policies(facts: PoolFacts) -> Iterator[Step]:
    at, policy = facts.pool.at.to("spec", "schedulingPolicy"), facts.policy
    for field, value in (
        ("binPack", policy.bin_pack),
        ("spread", policy.spread),
        ("preemptionEnabled", policy.preemption_enabled),
        ("gangScheduling", policy.gang_scheduling),
        ("topologyAware", policy.topology_aware),
    ):
        yield Step(field, "true" if value else "false", at=at / field)


def _free(pool: PoolRow, row: PoolRow | TeamRow) -> str:
    return listed([f"{row.free(it)} {it}" for it in pool.resources], "and")


def _amounts(vector: Vector) -> str:
    return ", ".join(
        amount_of(name, amount)
        for name, amount in sorted(vector.items(), key=lambda it: it[0] in HOST)
    )


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) or "-"
