"""Volcano's scheduler configuration lacks a plugin, so it ignores fields of the jobs."""

from collections.abc import Iterator, Sequence

from policygen.core.finding import At, NewMapping
from policygen.core.quoting import listed
from policygen.kubernetes import priorities
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, Need, ObjectRule, Severity, Verb
from policygen.lint.volcano import gangs
from policygen.lint.volcano.configuration import VolcanoFile, all_settings
from policygen.lint.volcano.rules.gang_plugin_blocks_preemption import SWITCHES, blocked

_VOTER = "conformance"


def check(facts: Facts) -> Hits:
    """The scheduler itself only compares requests with nodes; plugins add everything else.

    Source: pkg/scheduler/plugins/{predicates,gang,priority} of Volcano 1.14.1.
    """
    wanted = list(_wanted(facts.cluster))
    for configuration in all_settings(facts):
        for name, effect, at in wanted:
            if configuration.plugin(name) is None:
                tier = _tier(configuration, name)
                where = "a tier" if tier is None else f"tier {tier + 1}, beside {_VOTER}"
                blocks = blocked(facts, configuration, tier or 0, configuration.evicts)
                off = [SWITCHES[it] for it in blocks if name == "gang" and tier is not None]
                if off:
                    where += f", with {listed([f'{it}: false' for it in off], 'and')}"
                yield Hit(
                    RULE,
                    f"plugin {name} is not enabled, so Volcano {effect}; add {name} to {where}",
                    configuration.entry.at / "tiers",
                    (at,),
                    meant=_added(configuration, name, tier or 0, off),
                )


def _tier(configuration: VolcanoFile, name: str) -> int | None:
    """The index of the tier that needs the plugin: gang limits the victims of conformance. None: any tier."""
    voter = configuration.plugin(_VOTER) if name == "gang" else None
    return voter.tier if voter else None


def _added(
    configuration: VolcanoFile, name: str, tier: int, off: Sequence[str]
) -> tuple[Edit, ...]:
    tiers = configuration.entry.fields.tiers
    if not tiers:
        return ()
    at = configuration.entry.at.to("tiers", tier, "plugins", len(tiers[tier].plugins))
    return (Edit(Verb.ADD, at, NewMapping((("name", name), *((it, False) for it in off)))),)


def _wanted(cluster: Cluster) -> Iterator[tuple[str, str, At]]:
    """Each plugin that jobs need, what Volcano does without it, and a place that needs it."""
    for workload in cluster.workloads:
        template = next(
            (
                it
                for it in workload.templates
                if workload.scheduler_name(it) == "volcano"
                and (it.spec.node_selector or it.spec.affinity)
            ),
            None,
        )
        if template is not None:
            yield (
                "predicates",
                f"ignores taints, node selectors and affinities, such as those of {workload}",
                template.at,
            )
            break
    gang = next((it for it in cluster.derive(gangs.gangs) if it.pods > 1), None)
    if gang is not None:
        yield (
            "gang",
            f"starts pods of {gang.owner} before {gang.pods} pods have room",
            gang.root,
        )
    by_value = {
        value: it
        for it in cluster.workloads_of(VOLCANO_BATCH)
        if (value := priorities.of_class(cluster, str(it.spec.get("priorityClassName") or "")))
        is not None
    }
    if len(by_value) > 1:
        first = by_value[max(by_value)]
        yield (
            "priority",
            f"does not start {first} before jobs with a lower priority",
            first.at.to("spec", "priorityClassName"),
        )


RULE = ObjectRule(
    "volcano-plugin-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add the plugin to a tier.",
    judges=("volcano-scheduler.conf",),
    check=check,
    needs=frozenset({Need.WORKLOADS}),
    reads=("PodGroup", "PriorityClass"),
)
