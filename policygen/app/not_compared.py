"""Names what `diff` does not compare: objects that `render` prints only with an option that is not set."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from policygen.core.quoting import counted
from policygen.drift.drift import Rendered
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import TEMPLATES
from policygen.plan.catalog import KINDS
from policygen.plan.compile import files, objects
from policygen.plan.decisions import Decisions
from policygen.plan.extras import EXTRAS, WORKLOADS


def of_specs(old: Decisions, new: Decisions, compared: Collection[str]) -> Iterator[str]:
    """A note about two specs, if objects that need other options than `compared` differ."""
    others = [it for it in EXTRAS if it not in compared and _made(old, it) != _made(new, it)]
    if others:
        yield f"objects that render prints only with an option differ; to compare them, add {_options(others)}"


def of_objects(name: str, cluster: Cluster, rendered: Rendered) -> Iterator[str]:
    """Notes about objects that a spec renders only with an option, or that controllers change."""
    needed = [
        it
        for found in cluster.objects
        if not found.is_made and (it := rendered.missing_option(found))
    ]
    if needed:
        yield (
            f"{name}: {counted(len(needed), 'object')} {'is' if len(needed) == 1 else 'are'} not compared, because "
            f"render prints them only with an option; to compare them, add {_options(sorted(set(needed)))}"
        )
    run = [
        it
        for it in rendered.expected
        if it.item.kind.extra == WORKLOADS and (it.object.group, it.object.kind) in TEMPLATES
    ]
    there = {it.identity for it in cluster.objects}
    running = sum(it.object.identity in there for it in run)
    if cluster.seen and running:
        yield (
            f"{name}: of {counted(running, 'workload')} of models, only labels and annotations are compared, because "
            "controllers change the other fields of running workloads"
        )


def _made(decided: Decisions, extra: str) -> Mapping[tuple[str, str, str], Any]:
    """By kind, namespace and name, the fields of the objects and files that an option adds."""
    found = [*objects(decided, [it for it in KINDS if it.extra == extra])]
    found += [it.item for it in files(decided, {extra})]
    return {(it.kind.name, it.meta.namespace or "", it.meta.name): it.fields for it in found}


def _options(names: Collection[str]) -> str:
    return " ".join(f"--with {it}" for it in names)
