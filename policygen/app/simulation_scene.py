"""The scene of a simulation: what a spec renders, the manifests of the user, and a cluster."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from policygen.app import drift, kueue_file, render, workload
from policygen.app.compile import Compiled
from policygen.app.inputs import RunSpec
from policygen.app.requests import RenderRequest, SimulateRequest
from policygen.app.simulation_input import SimulationInput
from policygen.core import versions
from policygen.core.errors import UsageError
from policygen.core.finding import At
from policygen.core.versions import Version
from policygen.documents.parse import mapping
from policygen.kubernetes import controllers, kueue_settings, manifests
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Snapshot
from policygen.lint import context
from policygen.plan import scheduler
from policygen.plan.extras import SECOND_SCHEDULER, VOLCANO_CONFIG
from policygen.plan.workload import forms
from policygen.render import engine
from policygen.simulate import assumptions
from policygen.simulate.growing_pools import grown
from policygen.simulate.model_objects import ModelObjects, not_written
from policygen.simulate.scene import Scene
from policygen.simulate.scene_pools import cluster_nodes, flavor_pools, spec_nodes
from policygen.simulate.spec_quotas import spec_quotas

KUEUE = (0, 19)
"""The only release whose decisions are simulated."""


def scene_of(
    request: SimulateRequest,
    spec: RunSpec,
    given: SimulationInput,
    models: ModelObjects | None = None,
) -> Scene:
    """The scene of a state. Manifests replace what a spec renders, and both replace what a cluster has.

    Without a spec, `models` are those of another state with which it is compared.

    Raises UsageError for a release of Kueue that is not simulated, and for invalid assumptions, and
    SpecError for a base file of Kueue's Configuration that cannot be read or merged.
    """
    rendered = _rendered(request, spec)
    user = [*context.beside(given.state, given.objects), *given.objects]
    snapshot = given.snapshot
    if request.models and spec.compiled is not None:
        models = _models(request, spec.compiled, (*user, *(snapshot.objects if snapshot else ())))
    data = models.data if models is not None else ()
    made = (Object.read(it, At(drift.DOCUMENT, ("models",))) for it in data)
    rendered += [it for it in made if it is not None]
    own = [*context.beside(rendered, user), *user]
    seen = [] if snapshot is None else context.beside(snapshot.objects, own)
    if snapshot is not None:
        inside = manifests.inside(snapshot.objects, first_index=given.index + 1)
        seen += context.beside(inside.objects, own)
    cluster = Cluster(
        (*own, *seen, *_namespaces((*own, *seen))) if snapshot is None else (*own, *seen),
        seen=snapshot.seen if snapshot is not None else None,
        pods=snapshot.pods if snapshot is not None else (),
    )
    target = _target(request, spec, snapshot)
    if cluster.cluster_queues.any and target.release != KUEUE:
        raise UsageError(
            f"simulate knows only the decisions of Kueue {versions.written(KUEUE)}, not of {target}; "
            f"to simulate with them nevertheless, add --target kueue={versions.written(KUEUE)}"
        )
    settings = kueue_settings.first(cluster, target)
    nodes = cluster_nodes(cluster)
    pools = flavor_pools(cluster, nodes)
    plan = spec.compiled.plan if spec.compiled else None
    if plan is not None and plan.pools and not nodes:
        nodes, pools = spec_nodes(plan.pools)
    known = spec.compiled.loaded.spec if spec.compiled else None
    try:
        assumed = assumptions.parse(request.assume)
    except ValueError as error:
        raise UsageError(f"--assume: {error}") from None
    nodes, pools, growing = grown(nodes, pools, assumed.nodes, implied=not cluster_nodes(cluster))
    return Scene(
        cluster,
        settings,
        nodes,
        pools,
        _teams(spec),
        spec=known,
        assumptions=assumed,
        models=models,
        quotas=spec_quotas(plan.trees if plan is not None else ()),
        schedulers=_schedulers(spec),
        growing=growing,
    )


def _schedulers(spec: RunSpec) -> dict[str, str]:
    """The schedulerName of the pods of each pool, except those of Volcano."""
    if spec.compiled is None:
        return {}
    platform = spec.compiled.loaded.spec.platform
    found = scheduler.placed(spec.compiled.plan.pools)
    return {it.name: scheduler.scheduler_name(platform, it) or "" for it in found}


def _models(
    request: SimulateRequest, compiled: Compiled, written: Iterable[Object]
) -> ModelObjects:
    """The models of a spec as they are rendered, without those that written objects run."""
    spec = compiled.loaded.spec
    jobs = (it.object for it in Cluster(tuple(written)).workloads)
    added, own = not_written(compiled.plan.workloads.assignments, jobs)
    made = (it for one in added for it in workload.items(compiled, one, forms.one_run(one)))
    # No autoscaler is simulated, so the objects state their least replicas.
    items = [replace(it, fields=replace(it.fields, autoscaled=False)) for it in made]
    texts = engine.render(items, templates=request.templates, target=spec.platform.target)
    names = tuple(it.model.name for it in added)
    placed = {*names, *own}
    return ModelObjects(
        tuple(data for it in texts if (data := mapping(it.text)) is not None),
        names,
        tuple(own),
        tuple(it.name for it in spec.models if it.name not in placed),
    )


def _extras(spec: RunSpec) -> frozenset[str]:
    """The controllers' configurations that a spec renders. A second scheduler needs an image."""
    platform = spec.compiled.loaded.spec.platform if spec.compiled else None
    has_image = platform is not None and platform.kube_scheduler.image is not None
    return frozenset({VOLCANO_CONFIG, SECOND_SCHEDULER} if has_image else {VOLCANO_CONFIG})


def _rendered(request: SimulateRequest, spec: RunSpec) -> list[Object]:
    """The objects that the spec renders, with the controllers' configuration."""
    if spec.compiled is None:
        return []
    rendering = RenderRequest(
        request.specs, request.target, extras=_extras(spec), templates=request.templates
    )
    expected = (it.object for it in drift.rendered(spec.compiled, rendering).expected)
    found = [it for it in expected if it.kind != "Deployment"]  # the second scheduler is no job
    found += manifests.inside(found, first_index=1 + len(spec.documents)).objects
    # The Configuration that the spec needs, with the other settings of the base file or of Kueue's chart.
    base = render.kueue_base(spec.compiled.loaded)
    made = kueue_file.configuration(spec.compiled.decisions, base, At(drift.DOCUMENT, ("kueue",)))
    return [*found, *([made] if made is not None else [])]


def _namespaces(objects: Iterable[Object]) -> Iterator[Object]:
    """The namespaces of objects without a Namespace among them; their other labels are not known."""
    objects = tuple(objects)
    known = {it.name for it in objects if it.kind == "Namespace"}
    for name in dict.fromkeys(it.namespace for it in objects if it.namespace):
        if name not in known:
            data = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            yield Object(
                At(drift.DOCUMENT, ("namespaces", name)), "v1", "Namespace", name, "", data
            )


def _target(request: SimulateRequest, spec: RunSpec, snapshot: Snapshot | None) -> Version:
    """The release of Kueue: the given one, that of the cluster, or that of the spec."""
    if "kueue" in request.target:
        return request.target["kueue"]
    if snapshot is not None:
        found = controllers.detected(snapshot.seen.server, snapshot.objects)
        if "kueue" in found:
            return found["kueue"]
    if spec.compiled is not None:
        return spec.compiled.loaded.spec.platform.target.kueue
    return versions.DEFAULT["kueue"]


def _teams(spec: RunSpec) -> Mapping[str, str]:
    if spec.compiled is None:
        return {}
    teams = spec.compiled.loaded.spec.teams
    return {namespace.name: team.name for team in teams for namespace in team.namespaces}
