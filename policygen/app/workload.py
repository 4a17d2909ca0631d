"""What `workload` does: renders the objects that run one model, in the form that the user wants."""

from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.app import explain_name
from policygen.app.compile import Compiled, findings_about
from policygen.app.requests import RenderRequest
from policygen.core.errors import UsageError
from policygen.core.finding import Finding
from policygen.core.quoting import counted, listed
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.plan.assignment import Assignment
from policygen.plan.catalog import KINDS
from policygen.plan.compile import released
from policygen.plan.extras import WORKLOADS
from policygen.plan.kind import Item, Kind
from policygen.plan.workload import availability, forms, objects, scaling
from policygen.plan.workload.forms import WorkloadForm
from policygen.spec.types import Model

FORMS = tuple(it.value for it in WorkloadForm)
"""The names of the forms."""
_MANY = 100
"""Above this number, the user is told how many objects are printed."""


class RenderedWorkload(Struct, frozen=True):
    """The objects of a model, and the warnings about it."""

    text: str
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...] = ()
    """What the user may not expect: many objects, or a missing autoscaler."""


def workload(
    request: RenderRequest,
    name: str,
    form: str | None = None,
    *,
    namespace: str | None = None,
    stdin: BinaryIO | None = None,
) -> RenderedWorkload:
    """Render the objects that run a model; `form` is one of FORMS, or None for the default.

    Raises SpecError, and UsageError if the model is unknown, has no place, or cannot run in this form.
    """
    from policygen.render import engine, output

    request = request._replace(extras=frozenset({WORKLOADS}))
    made = explain_name.compiled(request, stdin=stdin)
    assignment = _assignment(made, name, namespace)
    chosen = _form(assignment, form)
    spec = made.loaded.spec
    rendered = items(made, assignment, chosen)
    remarks = []
    if len(rendered) > _MANY:
        kind = forms.KIND_OF[chosen][1]
        remarks.append(f"{len(rendered)} objects of kind {kind}, one for each replica of the model")
    budget = availability.budget(made.decisions, assignment)
    if budget is not None and chosen in forms.SERVING:
        rendered.append(released(spec, _kind("kubernetes", "PodDisruptionBudget"), budget))
    autoscaler = objects.autoscaler(made.decisions, assignment, chosen)
    if autoscaler is not None:
        rendered.append(released(spec, _kind("kubernetes", autoscaler.kind), autoscaler))
    elif chosen in forms.SERVING and scaling.is_scaled(assignment):
        remarks.append(_without_autoscaler(assignment))
    manifests = engine.render(rendered, templates=request.templates, target=spec.platform.target)
    about = findings_about(made, assignment.model.at)
    warnings = tuple(it for it in about if it.severity > Severity.INFO)
    return RenderedWorkload(output.text(manifests), warnings, tuple(remarks))


def _without_autoscaler(assignment: Assignment) -> str:
    """Kueue refuses to change the replicas of a StatefulSet."""
    count = counted(assignment.replicas.least, "replica")
    return (
        f'model "{assignment.model.name}" is rendered with {count} and without an autoscaler, because Kueue '
        "refuses to change the replicas of a StatefulSet; to scale it, use --as deployment"
    )


def _unplaced(made: Compiled, model: Model) -> str:
    """Why a model has no pool: the warnings about it."""
    found = findings_about(made, model.at)
    reasons = [it.message for it in found if it.severity > Severity.INFO]
    return "; ".join(reasons) or f'model "{model.name}" runs on no pool'


def items(compiled: Compiled, assignment: Assignment, form: WorkloadForm) -> list[Item]:
    """The objects that run a model in a form, without a budget and an autoscaler."""
    kind = _kind(*forms.KIND_OF[form])
    decided = compiled.decisions
    return [released(decided.spec, kind, it) for it in objects.workload(decided, assignment, form)]


def _kind(component: str, name: str) -> Kind:
    return next(it for it in KINDS if it.family == (WORKLOADS, component) and it.name == name)


def _assignment(made: Compiled, name: str, namespace: str | None) -> Assignment:
    """The place of a model. Raises UsageError."""
    known = {it.model.name: it for it in made.plan.workloads.placements}
    placement = known.get(name)
    if placement is None:
        raise UsageError(f'the spec has no model "{name}"; {suggest(name, known, "model")}')
    chosen = placement.chosen
    if chosen is None:
        raise UsageError(_unplaced(made, placement.model))
    if chosen.node is None:
        raise UsageError(
            f'model "{name}" has no team, and so no namespace and no quota; write its team'
        )
    own = chosen.model.namespace
    if namespace is None or namespace == own:
        return chosen
    if own is not None:
        raise UsageError(
            f'-n: model "{name}" runs only in namespace "{own}", which its spec.namespace names; omit -n, '
            "or change spec.namespace"
        )
    owned = [it.name for it in chosen.node.team.namespaces]
    if namespace not in owned:
        raise UsageError(
            f'-n: team "{chosen.node.team.name}" has no namespace "{namespace}"; '
            f"{suggest(namespace, owned)}"
        )
    return replace(chosen, model=replace(chosen.model, namespace=namespace))


def _form(assignment: Assignment, asked: str | None) -> WorkloadForm:
    """The form of a model. Raises UsageError if it cannot run in the asked one."""
    if asked is None:
        return forms.default(assignment)
    form = WorkloadForm(asked)
    if (reason := forms.obstacle(assignment, form)) is not None:
        possible = listed([str(it) for it in forms.possible(assignment)], "or")
        raise UsageError(
            f'--as {asked}: model "{assignment.model.name}" cannot run as {asked}, because {reason}; '
            f"use --as {possible}"
        )
    return form
