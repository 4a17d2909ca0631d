"""Runs the rules on manifests and clusters, and collects findings and gaps."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from policygen.api_validation import schemas
from policygen.app import verdicts
from policygen.client import unread
from policygen.core import versions
from policygen.core.finding import At, Finding, Hit, Place, dotted
from policygen.core.versions import Version
from policygen.documents import files
from policygen.documents.document import Document
from policygen.documents.files import Source
from policygen.kubernetes import controllers, manifests
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.locate import locate_objects
from policygen.kubernetes.manifests import Manifests
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import PODS, Gap, GroupKind, Seen, Snapshot
from policygen.lint import context, engine, waiver_annotations
from policygen.lint.context import ContextObjects
from policygen.lint.core import api_versions, kind_names
from policygen.lint.core.missing_references import REFERENCED
from policygen.lint.core.unreadable_fields import described
from policygen.lint.engine import RuleOutcome
from policygen.lint.rule import ClusterState, Facts, Need, ObjectRule
from policygen.lint.run_rules import NOT_READ, NOTHING_TO_CHECK
from policygen.lint.waiver_annotations import Annotated
from policygen.plan import catalog
from policygen.plan.model_names import MODEL
from policygen.spec.types import Spec

if TYPE_CHECKING:  # code that renders and compares is imported only with a spec
    from policygen.drift.drift import Drift, Rendered
    from policygen.plan.compile import Plan

NAMESPACE = GroupKind("", "Namespace")
_NO_OBJECTS = Cluster(())


class CheckSettings(Struct, frozen=True):
    """The settings with which objects are checked."""

    target: Mapping[str, Version]
    """The versions to use if no version is detected."""
    requested: Mapping[str, Version]
    """The versions that the spec or the command line sets."""
    spec: Spec | None = None
    plan: "Plan | None" = None
    documents: tuple[Document, ...] = ()
    """The documents of the spec."""
    rendered: "Rendered | None" = None
    """What the spec renders: clusters are compared with it, and it is the context of manifests."""
    state: ClusterState | None = None
    """The cluster to which the manifests are applied; its objects are also their context."""
    kubeconfig: str = ""
    """The kubeconfig that the user named."""


class ManifestInput(Struct, frozen=True):
    """The manifests that were read."""

    paths: Sequence[str]
    """Paths as they were passed, `-` for standard input."""
    sources: Sequence[Source]
    found: Manifests
    unreadable: Sequence[Finding] = ()
    """Why some of the paths could not be read."""
    partial: bool = False
    """Whether they are incomplete, so that missing objects are not reported."""


class CheckResult(Struct, frozen=True):
    """The results of the rules on manifests, or on a cluster."""

    outcomes: list[RuleOutcome]
    findings: list[Finding]
    objects: int
    """Number of objects, without the configuration files inside ConfigMaps."""
    complete: bool
    """False if input that a rule needs could not be read. Empty input counts as read."""
    drifts: "tuple[Drift, ...]" = ()
    """Its differences from the spec, if there is one."""
    gaps: tuple[Gap, ...] = ()
    """Kinds that could not be read, but that a rule needs."""
    kept: Facts | None = None
    """What the rules read, of manifests."""


class ClusterCheckResult(CheckResult, frozen=True, kw_only=True):
    """The results of the rules on a cluster."""

    context: str
    versions: Mapping[str, Version]
    """The versions that were detected, by component."""
    annotated: tuple[Annotated, ...]
    """Waivers in annotations of its objects."""
    state: ClusterState | None
    """Its objects; None if its names are redacted."""
    compared: bool
    """Whether it was compared with all objects that the spec renders."""
    next_index: int
    """The first index after those of its documents."""


def judge_manifests(
    inputs: ManifestInput, rules: Sequence[ObjectRule], settings: CheckSettings
) -> CheckResult:
    """Run the rules on manifests. What the spec renders and what the cluster has is their context."""
    found, state = inputs.found, settings.state
    empty_inputs = [] if inputs.unreadable else list(_without_objects(inputs, settings.documents))
    complete = found.complete and not inputs.unreadable
    contexts = _contexts(found, settings.rendered, state)
    beside = [it for each in contexts for it in each.objects]
    # The context comes first, so that rules about two objects report the second one.
    cluster = Cluster((*beside, *found.objects), context=frozenset(it.at for it in beside))
    # Nodes and similar kinds count as missing only if at least one exists. A spec never has all of
    # a cluster's workloads and Namespaces.
    rendered = {it.at for each in contexts[:1] for it in each.objects}
    before = state or _replaced(found, settings)
    whole = complete and not empty_inputs and not inputs.partial
    available = {
        **_configurations(cluster),
        Need.WHOLE: whole,
        Need.QUEUES: whole or (complete and _renders_queues(cluster, rendered)),
        Need.BUILT: not found.builds,
        Need.NODES: cluster.nodes.any and found.has_all_nodes,
        Need.KNOWN_NODES: found.has_all_nodes
        and (cluster.nodes.any or (settings.plan is not None and bool(settings.plan.pools))),
        Need.WORKLOADS: any(it.at not in rendered for it in cluster.workloads),
        Need.NAMESPACES: state is not None or any(it.kind == "Namespace" for it in found.objects),
        Need.SPEC: settings.spec is not None,
        Need.STATE: before is not None,
    }
    given = frozenset(need for need, is_given in available.items() if is_given)
    facts = Facts(cluster, settings.target, given, settings.spec, settings.plan, state=before)
    outcomes = engine.run(rules, facts)
    if beside:
        outcomes = context.about(found.objects, contexts, outcomes)
    hits = [hit for outcome in outcomes for hit in outcome.hits]
    seen = state.seen if state else None
    gaps = tuple(_gaps(seen, outcomes)) if seen else ()
    return CheckResult(
        outcomes=outcomes,
        findings=[
            *inputs.unreadable,
            *empty_inputs,
            *found.findings,
            *locate_objects(found.documents, cluster.objects, hits),
            *manifests.notes(found, _unjudged(found.objects, settings.target)),
            *(_not_read(str(it), seen) for it in gaps if seen),
        ],
        objects=len(found.objects) - found.inside,
        complete=complete and not gaps,
        gaps=gaps,
        kept=facts,
    )


def _renders_queues(cluster: Cluster, rendered: Collection[At]) -> bool:
    """Whether there are ClusterQueues, and the spec renders all of them and all Cohorts."""
    places = [*(it.at for it in cluster.cluster_queues), *(it.at for it in cluster.cohorts)]
    return bool(cluster.cluster_queues) and all(at in rendered for at in places)


def _replaced(found: Manifests, settings: CheckSettings) -> ClusterState | None:
    """The policy objects that the spec renders, if the manifests have one of the same name.

    Without workloads: the user's replaces that of the spec, and `workload-differs-from-model` compares it.
    """
    expected = settings.rendered.expected if settings.rendered else ()
    objects = {it.object.identity: it.object for it in expected if MODEL not in it.object.labels}
    if not objects or not any(it.identity in objects for it in found.objects):
        return None
    return ClusterState("", objects, settings.target["kubernetes"].release)


def _contexts(
    found: Manifests, rendered: "Rendered | None", state: ClusterState | None
) -> list[ContextObjects]:
    """The objects that the manifests do not contain: first those of the spec, then those of the cluster.

    With the files in their ConfigMaps. The spec replaces objects of the cluster, too.
    """
    if not found.objects or (rendered is None and state is None):
        return []
    expected = [it.object for it in rendered.expected] if rendered else []
    made = context.beside(expected, found.objects)
    held = context.lasting(state.objects.values()) if state else ()
    kept = context.beside(held, [*found.objects, *expected])
    # These documents have no lines, and no finding is in them.
    used = (*(it.index for it in found.documents), *(it.at.document for it in kept))
    inside = manifests.inside(made, first_index=1 + max(used)).objects
    others = manifests.inside(kept, first_index=1 + max(used) + len(inside)).objects
    origin = f"{state.shown} has" if state else ""
    return [
        ContextObjects("the spec renders", [*made, *inside]),
        ContextObjects(origin, [*kept, *others]),
    ]


def judge(
    snapshot: Snapshot, rules: Sequence[ObjectRule], settings: CheckSettings, index: int = 0
) -> ClusterCheckResult:
    """Run the rules on a snapshot. `index` is the index of its document."""
    seen = snapshot.seen
    inside = manifests.inside(snapshot.objects, first_index=index + 1)
    rendered = None if seen.redacted else settings.rendered
    cluster = Cluster((*snapshot.objects, *inside.objects), seen=seen, pods=snapshot.pods)
    if rendered and (not_requested := tuple(map(_not_requested, rendered.not_requested(cluster)))):
        seen = replace(seen, gaps=(*seen.gaps, *not_requested))
        cluster = Cluster(cluster.objects, seen=seen, pods=snapshot.pods)
    available = {
        **_configurations(cluster),
        # Hashed names do not equal the names that a spec renders.
        Need.SPEC: settings.spec is not None and not seen.redacted,
        Need.STATE: False,  # of manifests
    }
    detected = controllers.detected(seen.server, snapshot.objects)
    facts = Facts(
        cluster,
        {**settings.target, **_supported(detected)},
        # The engine looks up other needs among the kinds that were read.
        given=frozenset(need for need in Need if available.get(need, True)),
        spec=settings.spec,
        plan=settings.plan,
        requested=settings.requested,
        rendered=rendered,
        kubeconfig=settings.kubeconfig,
    )
    outcomes = engine.run(rules, facts)
    hits = [hit for outcome in outcomes for hit in outcome.hits]
    gaps = tuple(_gaps(seen, outcomes))
    objects = [*cluster.objects, *_pods(cluster, hits)]
    objects += [it.object for it in rendered.expected] if rendered else []
    documents = (*settings.documents, *inside.documents)
    findings = [*inside.findings, *locate_objects(documents, objects, hits)]
    return ClusterCheckResult(
        outcomes=outcomes,
        findings=[
            *(it._replace(cluster=seen.context) for it in findings),
            *(_not_read(str(it), seen) for it in gaps),
            *_malformed(cluster, seen.context),
            *(
                lost := [
                    *(_not_read(it, seen) for it in unread.messages(snapshot)),
                    *_redacted(seen, outcomes, settings),
                ]
            ),
        ],
        objects=len(snapshot.objects) + len(cluster.pods),
        complete=inside.complete
        and not cluster.malformed
        and not lost
        and not any(it.missed for it in outcomes),
        drifts=(rendered.against(cluster),) if rendered else (),
        gaps=gaps,
        context=seen.context,
        versions=detected,
        annotated=waiver_annotations.annotated(snapshot),
        state=None if seen.redacted else _state(snapshot, facts.target),
        compared=verdicts.compared(outcomes),
        next_index=index + 1 + len(inside.documents),
    )


def _state(snapshot: Snapshot, target: Mapping[str, Version]) -> ClusterState:
    objects = {it.identity: it for it in snapshot.objects}
    return ClusterState(snapshot.seen.context, objects, target["kubernetes"].release, snapshot.seen)


def _pods(cluster: Cluster, hits: Iterable[Hit]) -> Iterator[Object]:
    """The pods in hits."""
    places = (at for hit in hits for at in (hit.at, *hit.related) if at is not None)
    numbers = {at.path[1] for at in places if at.path[:1] == (PODS,)}
    return (pod.object for pod in cluster.pods if pod.number in numbers) if numbers else iter(())


def _configurations(cluster: Cluster) -> dict[Need, bool]:
    """Which configurations of controllers exist."""
    return {
        Need.KUEUE_CONFIGURATION: cluster.kueue_configurations.any,
        Need.VOLCANO_CONFIGURATION: cluster.volcano_configurations.any,
        Need.SCHEDULER_CONFIGURATION: cluster.scheduler_configurations.any,
    }


def _without_objects(inputs: ManifestInput, spec: Sequence[Document]) -> Iterator[Finding]:
    """Findings about manifests without objects, for example from a failed command in a pipe.

    Empty standard input is always reported, empty files only if all files are empty.
    """
    found, sources = inputs.found, inputs.sources
    if not found.complete:
        return  # their faults are reported already
    by_index = {it.index: it.source.name for it in found.documents}
    holding = {by_index[it.at.document] for it in found.objects} | {it.source.name for it in spec}
    empty = [it.name for it in sources if it.name not in holding]
    if len(empty) == len(sources):
        names = [files.STDIN if path == "-" else path for path in inputs.paths]
    else:
        names = [name for name in empty if name == files.STDIN]
    for name in dict.fromkeys(names):
        message = (
            "this input contains no object, so nothing was checked; check the command that writes "
            "the input"
        )
        yield Finding(NOTHING_TO_CHECK, message, Place(name))


def _unjudged(objects: Iterable[Object], target: Mapping[str, Version]) -> list[Object]:
    judged: dict[tuple[str, str], bool] = {}
    unjudged = []
    for it in objects:
        kind = it.api_version, it.kind
        if kind not in judged:
            judged[kind] = _is_judged(it, target)
        if not judged[kind]:
            unjudged.append(it)
    return unjudged


def _is_judged(declared: Object, target: Mapping[str, Version]) -> bool:
    """Whether a rule checks objects of this kind, or the name of the kind, or policygen renders it."""
    return (
        (declared.group, declared.kind) in _NO_OBJECTS.tables
        or schemas.served(declared.api_version, declared.kind) is not None
        or any(
            it.name == declared.kind and declared.api_version in it.api_versions
            for it in catalog.KINDS
        )
        or api_versions.fault(declared, target) is not None
        or (not declared.group and declared.kind in REFERENCED)
        or kind_names.wrong_kind(declared) is not None
    )


def _not_requested(expected: Object) -> Gap:
    """A gap for an object that a snapshot without the spec does not contain."""
    reason = (
        f"{expected.name}: the snapshot was taken without this spec; take a new snapshot with the "
        "spec"
    )
    return Gap(expected.group, expected.kind, expected.namespace, reason)


def _supported(found: Mapping[str, Version]) -> dict[str, Version]:
    """The supported versions; for others, the target version is used."""
    return {
        component: version
        for component, version in found.items()
        if versions.SUPPORTED[component][0] <= version.release <= versions.SUPPORTED[component][1]
    }


def _gaps(seen: Seen, outcomes: Sequence[RuleOutcome]) -> Iterator[Gap]:
    """The gaps in kinds that a rule needs."""
    missed = {kind for outcome in outcomes for kind in outcome.missed}
    reported = set()
    for gap in seen.gaps:
        kind = GroupKind(gap.group, gap.kind)
        if kind in missed:
            reported.add(kind)
            yield gap
    for kind in sorted(missed - reported):
        yield Gap(*kind, "", "")


def _not_read(message: str, seen: Seen) -> Finding:
    return Finding(NOT_READ, message, cluster=seen.context)


def _redacted(
    seen: Seen, outcomes: Sequence[RuleOutcome], settings: CheckSettings
) -> Iterator[Finding]:
    """A finding if a spec is compared with a redacted snapshot."""
    rules = sum(Need.SPEC in it.rule.needs for it in outcomes)
    if seen.redacted and settings.spec is not None and rules:
        message = (
            "the snapshot is redacted: its names are hashes, so it cannot be compared with the spec; "
            f"{rules} rules, including those about drift, were not evaluated"
        )
        yield _not_read(message, seen)


def _malformed(cluster: Cluster, context: str) -> Iterator[Finding]:
    """Findings about objects that a server accepted but policygen cannot read."""
    for malformed in cluster.malformed:
        where, why = described(malformed)
        name, path = str(malformed.object), dotted(where)
        message = f"{name} could not be read: {why}"
        yield Finding(NOT_READ, message, None, name, path, path, cluster=context)
