"""Decides the autoscaler of a serving model, with bounds within the guarantee and the limit of its team."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from policygen.core.finding import Hit
from policygen.core.quoting import counted
from policygen.plan import model_limits
from policygen.plan.amounts import Vector, count
from policygen.plan.assignment import Assignment
from policygen.plan.claims import claims
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Meta
from policygen.plan.model_names import MODEL
from policygen.plan.monitoring.rule import series
from policygen.plan.node_room import replicas_on_nodes
from policygen.plan.pool import PoolFacts
from policygen.plan.replicas import counted_resources
from policygen.plan.rules import AUTOSCALER_BOUNDS_LOWERED, AUTOSCALER_NOT_RENDERED
from policygen.spec.programs import KedaSettings

HPA, SCALED_OBJECT = "HorizontalPodAutoscaler", "ScaledObject"
_POD_NAMES = {
    "Deployment": "[4-9bcdf]{5,10}-[a-z0-9]{5}",
    "StatefulSet": "[0-9]+",
    "LeaderWorkerSet": "[0-9]+(-[0-9]+)?",
}
"""What the controller of each kind adds to its name in those of its pods.

A Deployment adds a hash, a number with other characters for its digits. So pods of a Job named `NAME-eu` do not
match. Source: SafeEncodeString in apimachinery/pkg/util/rand of Kubernetes.
"""


class ScalingBounds(Struct, frozen=True):
    """The replicas of a model between which its autoscaler scales."""

    least: int
    most: int
    covered: int
    """Replicas that other teams cannot reclaim."""
    fitting: int
    """Replicas within the limit of the team."""
    placed: int | None
    """Replicas that the nodes hold; None: not known."""


class ScaleTarget(Struct, frozen=True):
    """The object whose replicas an autoscaler sets."""

    api_version: str
    kind: str
    name: str


class PrometheusTrigger(Struct, frozen=True):
    """What KEDA asks Prometheus for."""

    address: str
    query: str


class ModelAutoscaler(Struct, frozen=True):
    """An autoscaler of a model: it keeps the metric of each pod at a value."""

    meta: Meta
    model: str
    pool: str
    target: ScaleTarget
    least: int
    most: int
    metric: str
    concurrency: int
    """The value of the metric for each pod."""
    trigger: PrometheusTrigger | None = None
    """None: the autoscaler is that of Kubernetes, which asks a metrics adapter."""

    @property
    def threshold(self) -> str:
        """The value as KEDA reads it from a text."""
        return str(self.concurrency)

    @property
    def kind(self) -> str:
        """The kind of the autoscaler."""
        return HPA if self.trigger is None else SCALED_OBJECT

    @property
    def average(self) -> str:
        """The value as a canonical quantity, since the API server writes no other form."""
        return count(self.concurrency)


def is_scaled(assignment: Assignment) -> bool:
    """Whether a model is rendered with an autoscaler."""
    scaling = assignment.model.autoscaling
    return scaling is not None and scaling.metric is not None


def is_lent(facts: PoolFacts) -> bool:
    """Whether other teams can borrow what a team does not use of a pool; also cpu and memory are lent then."""
    return any(map(facts.lends, facts.resources))


def guarded(chosen: Assignment) -> Sequence[Vector]:
    """By pool, what other teams cannot reclaim from the team of a model; where none can borrow, its limit."""
    node = chosen.node
    if node is None:
        return []
    own = claims(chosen.tree)[node.name]
    return [
        {
            resource: own[facts.name].get(resource, 0) if is_lent(facts) else most
            for resource, most in limit.items()
        }
        for facts, limit in zip(chosen.pools, model_limits.bounds(chosen), strict=True)
    ]


def bounds(chosen: Assignment) -> ScalingBounds:
    """The bounds of a model, lowered to what its team has. They are at least 1."""
    pieces = chosen.replicas
    covered = pieces.pieces(guarded(chosen), counted_resources(chosen.facts))
    fitting = model_limits.fitting(chosen)
    placed = replicas_on_nodes(chosen)
    most = max(1, min(pieces.most, fitting, fitting if placed is None else placed))
    return ScalingBounds(max(1, min(pieces.least, covered, most)), most, covered, fitting, placed)


def most_replicas(chosen: Assignment) -> int:
    """The replicas that a model can have: of a rendered autoscaler, its maximum."""
    return bounds(chosen).most if is_scaled(chosen) else chosen.replicas.most


def autoscaler(
    decided: Decisions, assignment: Assignment, target: tuple[str, str]
) -> ModelAutoscaler | None:
    """The autoscaler of a model whose object has an API version and a kind; None if it needs none."""
    model, namespace, found = assignment.model, assignment.namespace, assignment.model.autoscaling
    if found is None or found.metric is None or namespace is None:
        return None
    between = bounds(assignment)
    return ModelAutoscaler(
        meta=Meta(
            model.name, decided.platform.name, namespace.name, own_labels={MODEL: model.name}
        ),
        model=model.name,
        pool=assignment.facts.name,
        target=ScaleTarget(*target, model.name),
        least=between.least,
        most=between.most,
        metric=found.metric,
        concurrency=found.target_concurrency or 1,
        trigger=_trigger(
            decided.platform.keda, found.metric, target[1], model.name, namespace.name
        ),
    )


def _trigger(
    keda: KedaSettings | None, metric: str, kind: str, name: str, namespace: str
) -> PrometheusTrigger | None:
    """The requests in flight of all pods of an object; KEDA divides them by the number of pods."""
    if keda is None:
        return None
    pods = f'pod=~"{name}-{_POD_NAMES[kind]}"'
    query = f"sum({series(metric, {'namespace': namespace}, pods)})"
    return PrometheusTrigger(keda.prometheus, query)


def reports(assignment: Assignment) -> Iterator[Hit]:
    """Notes: no autoscaler is rendered, or its bounds are lower than those of the model."""
    model, found = assignment.model, assignment.model.autoscaling
    if found is None or model.gang is not None or model.workload != "serving":
        return
    at = model.field("autoscaling")
    if found.metric is None:
        message = (
            f'no autoscaler of model "{model.name}" is rendered, because it has no metric, so '
            f"it is rendered with {counted(found.min_replicas, 'replica')}; write autoscaling.metric and targetConcurrency, or "
            "scale it with an autoscaler of your own"
        )
        yield Hit(AUTOSCALER_NOT_RENDERED, message, at.on_key())
        return
    between = bounds(assignment)
    for field, written, made in (
        ("maxReplicas", found.max_replicas, between.most),
        ("minReplicas", found.min_replicas, between.least),
    ):
        if made < written:
            message = (
                f'the autoscaler of model "{model.name}" has {field}: {made} instead of {written}, because '
                f"{_reason(assignment, between, field)}, or lower {field}"
            )
            yield Hit(AUTOSCALER_BOUNDS_LOWERED, message, at / field)


def _reason(chosen: Assignment, between: ScalingBounds, field: str) -> str:
    """What a bound of the model is lowered to, and how to raise it."""
    placed, most = between.placed, between.fitting
    covered = field == "minReplicas" and between.covered <= between.most
    if not covered and placed is not None and placed < most:
        count = counted(sum(it.node_count for it in chosen.pools), "node")
        return (
            f"the {count} of {chosen.place} hold {counted(placed, 'replica')}, and no pod can be divided over nodes; "
            "add nodes"
        )
    volcano = chosen.tree.scheduler == "volcano" and is_lent(chosen.facts)
    has = between.covered if covered else most
    bound = ("amount that the queue deserves" if volcano else "guarantee") if covered else "limit"
    of_team = f'{bound} of team "{chosen.model.team}" on {chosen.place}'
    return (
        f"the {of_team} has room for {counted(has, 'replica')}; "
        f"raise the {'guarantee' if covered else 'limit'}"
    )
