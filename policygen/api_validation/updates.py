"""Changes of an existing object that a server refuses: immutable fields, and forbidden transitions.

Sources: the CRDs' rules about `oldSelf` (`cel.TRANSITIONS`); pkg/apis/{apps,batch,core,rbac,scheduling}/
validation and pkg/registry/batch/job/strategy.go of k8s.io/kubernetes 1.36.3; pkg/webhooks and
pkg/controller/job{framework,s} of kueue 0.19.2; pkg/webhooks/admission/jobs/validate of Volcano 1.14.1.
Proven: `tests/servers/updates.py` compares `refused_changes` with the answers of real servers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from policygen.api_validation import schemas
from policygen.api_validation.cel import TRANSITIONS, Frozen
from policygen.api_validation.structural import Schema, below, is_quantity
from policygen.core import quantity
from policygen.core.finding import Path, at_path
from policygen.core.versions import Minor

Data = Mapping[str, Any]
_RECREATE = "delete the object and create it again, or keep the old value"
_KEEP = "keep the old value"
_JOB_RESOURCES_SINCE: Minor = (1, 36)
"""Since this release, a suspended Job may change the resources of its containers (feature gate
MutablePodResourcesForSuspendedJobs)."""


class RefusedChange(NamedTuple):
    """One change that a server refuses."""

    path: Path
    """The first changed field, in the new object."""
    why: str
    """A sentence without a final stop."""
    remedy: str
    """An imperative."""
    fields: int = 1
    """The number of changed fields that are refused for this reason."""


class _ObjectUpdate(NamedTuple):
    """Both states of an object."""

    old: Data
    new: Data
    schema: Schema
    kubernetes: Minor

    def changed(self, path: Path) -> list[Path]:
        """The fields at or below a path that differ."""
        schema = self.schema
        for step in path:
            schema = below(schema, step)
        old, new = at_path(self.old, path), at_path(self.new, path)
        return list(differences(old, new, schema, path))

    def refused(
        self,
        path: Path,
        why: str,
        remedy: str = _RECREATE,
        *,
        but: Callable[[Path], bool] | None = None,
    ) -> Iterator[RefusedChange]:
        """The refusal of all changes at or below a path, except those that `but` names."""
        found = [it for it in self.changed(path) if but is None or not but(it)]
        if found:
            yield RefusedChange(found[0], why, remedy, len(found))


def refused_changes(
    old: Data, new: Data, kubernetes: Minor = _JOB_RESOURCES_SINCE
) -> Iterator[RefusedChange]:
    """Why a server refuses to replace the old state of an object by the new one.

    Both are complete objects of one API version, except that defaults of built-in kinds must be in
    both or in none; `applied` makes such a new state. It does not report what `refusals` and the
    rules of lint report about the new state alone. `kubernetes` is the release of the server.
    """
    update = _ObjectUpdate(old, new, schema_of(old), kubernetes)
    kind = _group_kind(old)
    for path in _IMMUTABLE.get(kind, ()):
        yield from update.refused(path, f"{path[-1]} is immutable")
    if kind in _CODE:
        yield from _CODE[kind](update)
    yield from _by_cel(update)
    yield from _by_kueue(update)


def schema_of(data: Data) -> Schema:
    """The schema of an object; empty if its kind has none."""
    served = _served(data)
    return served.schema if served else {}


def _served(data: Data) -> schemas.ServedKind | None:
    return schemas.served(str(data.get("apiVersion", "")), str(data.get("kind", "")))


def _group_kind(data: Data) -> tuple[str, str]:
    return str(data.get("apiVersion", "")).rpartition("/")[0], str(data.get("kind", ""))


def applied(old: Data, stated: Data) -> Data:
    """The state after an apply of `stated`: fields that it does not state keep their old value.

    Lists have the order of `stated`. In a list of a built-in kind whose entries have no keys, missing
    fields of an entry are defaults of the server, so they keep their old value, too.
    """
    served = _served(old)
    found: Data = _merged(old, stated, schema_of(old), custom=served is not None and served.custom)
    return found


def _merged(old: Any, stated: Any, schema: Schema, *, custom: bool) -> Any:
    if isinstance(old, dict) and isinstance(stated, dict):
        fields = {
            key: _merged(old.get(key), it, below(schema, key), custom=custom)
            for key, it in stated.items()
        }
        return {**{key: it for key, it in old.items() if key not in fields}, **fields}
    if isinstance(old, list) and isinstance(stated, list):
        return _merged_list(old, stated, schema, custom=custom)
    return stated


def _merged_list(old: list[Any], stated: list[Any], schema: Schema, *, custom: bool) -> list[Any]:
    item: Schema = schema.get("items", {})
    if schema.get("x-kubernetes-list-type") == "set":
        return [*stated, *(it for it in old if it not in stated)]
    mine, theirs = _keyed(stated, schema), _keyed(old, schema)
    if mine is None or theirs is None:
        if custom or len(old) != len(stated):
            return stated
        return [_merged(*pair, item, custom=custom) for pair in zip(old, stated, strict=True)]
    return [
        *(_merged(theirs.get(key), it, item, custom=custom) for key, it in mine.items()),
        *(it for key, it in theirs.items() if key not in mine),
    ]


def differences(old: Any, new: Any, schema: Schema, path: Path) -> Iterator[Path]:
    """The fields that differ. A missing field equals its default, null, and an empty value."""
    old, new = (_canonical(it, schema) for it in (old, new))
    if isinstance(old, dict | None) and isinstance(new, dict | None):
        old, new = old or {}, new or {}
        for key in dict.fromkeys((*new, *old)):
            yield from differences(old.get(key), new.get(key), below(schema, key), (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _list_differences(old, new, schema, path)
    elif not _equal(old, new, schema):
        yield path


def _list_differences(old: list[Any], new: list[Any], schema: Schema, path: Path) -> Iterator[Path]:
    item: Schema = schema.get("items", {})
    theirs, mine = _keyed(old, schema), _keyed(new, schema)
    if theirs is None or mine is None:
        if len(old) != len(new):
            yield path
            return
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, item, (*path, index))
        return
    for index, (key, entry) in enumerate(mine.items()):
        if key in theirs:
            yield from differences(theirs[key], entry, item, (*path, index))
        else:
            yield (*path, index)
    if any(key not in mine for key in theirs):
        yield path


def _keyed(entries: list[Any], schema: Schema) -> dict[str, Any] | None:
    """The entries of a list by their keys; None if the schema names no keys, or they are not unique."""
    keys: list[str] = schema.get("x-kubernetes-list-map-keys", [])
    if not keys or not all(isinstance(it, dict) for it in entries):
        return None
    fields = schema.get("items", {}).get("properties", {})
    defaults = {key: fields.get(key, {}).get("default") for key in keys}
    found = {repr([it.get(key, defaults[key]) for key in keys]): it for it in entries}
    return found if len(found) == len(entries) else None


def _canonical(value: Any, schema: Schema) -> Any:
    if value is None:
        value = schema.get("default")
    return None if value in ("", [], {}) else value


def _equal(old: Any, new: Any, schema: Schema) -> bool:
    if is_quantity(schema) and old is not None and new is not None:
        try:
            return quantity.parse(old).value == quantity.parse(new).value
        except (TypeError, ValueError):
            pass
    return isinstance(old, bool) == isinstance(new, bool) and bool(old == new)


_SELECTOR: tuple[Path, ...] = (("spec", "selector"),)
_IMMUTABLE: Mapping[tuple[str, str], tuple[Path, ...]] = {
    ("scheduling.k8s.io", "PriorityClass"): (("value",), ("preemptionPolicy",)),
    ("apps", "Deployment"): _SELECTOR,
    ("apps", "ReplicaSet"): _SELECTOR,
    ("apps", "DaemonSet"): _SELECTOR,
    ("rbac.authorization.k8s.io", "RoleBinding"): (("roleRef",),),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (("roleRef",),),
    ("", "Secret"): (("type",),),
    ("batch", "Job"): (
        ("spec", "selector"),
        ("spec", "completionMode"),
        ("spec", "podFailurePolicy"),
        ("spec", "backoffLimitPerIndex"),
        ("spec", "managedBy"),
        ("spec", "successPolicy"),
    ),
    ("kueue.x-k8s.io", "ClusterQueue"): (("spec", "concurrentAdmissionPolicy"),),
}
"""The fields that no update may change."""


def _quota(update: _ObjectUpdate) -> Iterator[RefusedChange]:
    path = ("spec", "scopes")
    old, new = (set(map(str, at_path(it, path) or ())) for it in (update.old, update.new))
    if old != new:
        yield RefusedChange(path, "scopes is immutable", _RECREATE)


def _constant(update: _ObjectUpdate) -> Iterator[RefusedChange]:
    """ConfigMaps and Secrets that are marked as immutable."""
    if update.old.get("immutable") is True:
        for name in ("data", "stringData", "binaryData", "immutable"):
            yield from update.refused((name,), "the object has immutable: true")


_MUTABLE_OF_STATEFUL_SET = {
    "replicas", "template", "updateStrategy", "minReadySeconds", "ordinals",
    "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy",
}  # fmt: skip


def _stateful_set(update: _ObjectUpdate) -> Iterator[RefusedChange]:
    names = _names(update, ("spec",)) - _MUTABLE_OF_STATEFUL_SET
    for name in sorted(names):
        yield from update.refused(("spec", name), f"{name} of a StatefulSet is immutable")


def _names(update: _ObjectUpdate, path: Path) -> set[str]:
    """The keys at a path in either state."""
    return {*_mapping(update.old, *path), *_mapping(update.new, *path)}


_TEMPLATE: Path = ("spec", "template")
_DIRECTIVES = tuple(
    (*_TEMPLATE, *path)
    for path in (
        ("metadata", "labels"),
        ("metadata", "annotations"),
        ("spec", "nodeSelector"),
        ("spec", "tolerations"),
        ("spec", "schedulingGates"),
        ("spec", "affinity", "nodeAffinity"),
    )
)
"""What a suspended Job that runs no pod may change in its template."""


def _job(update: _ObjectUpdate) -> Iterator[RefusedChange]:
    old, new = (_mapping(it, "spec") for it in (update.old, update.new))
    completions = update.changed(("spec", "completions"))
    if completions and old.get("completionMode") != "Indexed":
        yield RefusedChange(completions[0], "completions is immutable", _RECREATE)
    elif completions and new.get("completions") not in (None, new.get("parallelism", 1)):
        why = "completions of an Indexed Job can only change together with parallelism"
        yield RefusedChange(completions[0], why, "set parallelism to the same number")
    open_ = _is_open(update.old, update.kubernetes)
    resources = open_ and update.kubernetes >= _JOB_RESOURCES_SINCE

    def may_change(path: Path) -> bool:
        if open_ and any(path[: len(it)] == it for it in _DIRECTIVES):
            return True
        inside = path[len(_TEMPLATE) :]
        listed = inside[:1] == ("spec",) and inside[1:2] in {("containers",), ("initContainers",)}
        return resources and listed and inside[3:4] == ("resources",)

    why = "the pod template of a Job is immutable"
    yield from update.refused(_TEMPLATE, why, but=may_change)


def _is_open(job: Data, kubernetes: Minor) -> bool:
    """Whether a Job may change scheduling directives: it is suspended, and no pod of it runs."""
    status = _mapping(job, "status")
    started = bool(status.get("startTime"))
    if kubernetes >= _JOB_RESOURCES_SINCE and _condition(job, "Suspended"):
        started = False
    return at_path(job, ("spec", "suspend")) is True and not started and not status.get("active")


def _condition(data: Data, name: str) -> bool:
    listed = _entries(data, "status", "conditions")
    return any(it.get("type") == name and it.get("status") == "True" for it in listed)


def _mapping(data: Any, *path: str | int) -> dict[str, Any]:
    """The mapping at a path of unchecked data; empty if it has another type."""
    found = at_path(data, path)
    return found if isinstance(found, dict) else {}


def _entries(data: Any, *path: str | int) -> list[dict[str, Any]]:
    """The mappings in the list at a path of unchecked data."""
    found = at_path(data, path)
    return [it for it in found if isinstance(it, dict)] if isinstance(found, list) else []


def _pod(update: _ObjectUpdate) -> Iterator[RefusedChange]:
    old, new = (_mapping(it, "spec") for it in (update.old, update.new))
    gated = bool(old.get("schedulingGates"))
    deadline, before = (it.get("activeDeadlineSeconds") for it in (new, old))
    if isinstance(before, int) and not (isinstance(deadline, int) and deadline <= before):
        why = "activeDeadlineSeconds of a Pod can only be set or reduced"
        yield RefusedChange(("spec", "activeDeadlineSeconds"), why, _RECREATE)
    kept = _entries(new, "tolerations")
    if not all(_tolerated(it, kept) for it in _entries(old, "tolerations")):
        why = "a Pod keeps its tolerations, apart from tolerationSeconds; others can be added"
        yield RefusedChange(("spec", "tolerations"), why, _RECREATE)
    gates = [it.get("name") for it in _entries(old, "schedulingGates")]
    if not all(it.get("name") in gates for it in _entries(new, "schedulingGates")):
        why = "schedulingGates of a Pod can only be removed"
        yield RefusedChange(("spec", "schedulingGates"), why, _RECREATE)
    selector = _mapping(new, "nodeSelector")
    added = gated and all(selector.get(k) == v for k, v in _mapping(old, "nodeSelector").items())
    narrowed = gated and _is_narrowed(old, new)

    def may_change(path: Path) -> bool:
        name = path[1] if len(path) > 1 else ""
        return (
            name in {"activeDeadlineSeconds", "tolerations", "schedulingGates"}
            or (name in {"containers", "initContainers"} and path[3:] == ("image",))
            or (name == "nodeSelector" and added)
            or (path[1:3] == ("affinity", "nodeAffinity") and narrowed)
        )

    yield from update.refused(("spec",), "this field of a Pod is immutable", but=may_change)


_ADDED_TOLERATIONS = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}
"""Tolerations that the server adds again to every Pod without them (DefaultTolerationSeconds)."""


def _tolerated(old: Data, tolerations: Iterable[Data]) -> bool:
    plain = {**old, "tolerationSeconds": None}
    return old.get("key") in _ADDED_TOLERATIONS or any(
        not any(differences(plain, {**it, "tolerationSeconds": None}, {}, ())) for it in tolerations
    )


def _is_narrowed(old: Data, new: Data) -> bool:
    """Whether required node affinity only got further expressions."""
    path = (
        "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    )  # fmt: skip
    terms, others = (_entries(it, *path) for it in (old, new))
    if not terms:
        return True
    return len(terms) == len(others) and all(
        _entries(other, key)[: len(_entries(term, key))] == _entries(term, key)
        for term, other in zip(terms, others, strict=True)
        for key in ("matchExpressions", "matchFields")
    )


_MUTABLE_OF_CLAIM = {"resources", "volumeAttributesClassName", "volumeName"}


def _claim(update: _ObjectUpdate) -> Iterator[RefusedChange]:
    bound = at_path(update.old, ("status", "phase")) == "Bound"
    kept = _MUTABLE_OF_CLAIM if bound else {"resources", "volumeName"}
    for name in sorted(_names(update, ("spec",)) - kept):
        yield from update.refused(("spec", name), f"{name} of a PersistentVolumeClaim is immutable")
    if at_path(update.old, ("spec", "volumeName")):
        yield from update.refused(("spec", "volumeName"), "volumeName is immutable")
    path = ("spec", "resources", "requests", "storage")
    try:
        old, new = (quantity.parse(at_path(it, path)).value for it in (update.old, update.new))
    except (TypeError, ValueError):
        return
    if new < old or (new != old and not bound):
        why = "storage can only grow, and only after the claim is bound"
        yield RefusedChange(path, why, _RECREATE)


_MUTABLE_OF_VOLCANO_JOB = {"minAvailable", "priorityClassName"}
_MUTABLE_OF_TASK = {"replicas", "minAvailable"}
_FILLED_OF_TASK = {"name", "maxRetry"}
"""Fields that Volcano sets in a new job if they are missing."""


def _volcano_job(update: _ObjectUpdate) -> Iterator[RefusedChange]:
    why = "Volcano lets only minAvailable, replicas of tasks and priorityClassName of a job change"
    old, new = (_entries(it, "spec", "tasks") for it in (update.old, update.new))
    if len(old) != len(new):
        yield RefusedChange(
            ("spec", "tasks"), "Volcano does not add or remove tasks of a job", _RECREATE
        )
        return

    def may_change(path: Path) -> bool:
        if path[1] in _MUTABLE_OF_VOLCANO_JOB:
            return True
        if path[1] == "tasks":
            name = path[3] if path[3:] else ""
            filled = name in _FILLED_OF_TASK and at_path(update.new, path) is None
            return filled or name in _MUTABLE_OF_TASK
        return (
            path[1] == "volumes"
            and path[3:] == ("volumeClaimName",)
            and bool(at_path(update.new, (*path[:3], "volumeClaim")))
        )

    yield from update.refused(("spec",), why, but=may_change)


def _workload(update: _ObjectUpdate) -> Iterator[RefusedChange]:
    if _condition(update.old, "QuotaReserved"):
        why = "podSets are immutable while the Workload has its quota reserved"
        yield from update.refused(("spec", "podSets"), why, _KEEP)


_CODE: Mapping[tuple[str, str], Callable[[_ObjectUpdate], Iterator[RefusedChange]]] = {
    ("", "ResourceQuota"): _quota,
    ("", "ConfigMap"): _constant,
    ("", "Secret"): _constant,
    ("", "Pod"): _pod,
    ("", "PersistentVolumeClaim"): _claim,
    ("apps", "StatefulSet"): _stateful_set,
    ("batch", "Job"): _job,
    ("batch.volcano.sh", "Job"): _volcano_job,
    ("kueue.x-k8s.io", "Workload"): _workload,
}
"""Kinds for which a server has code."""


class _Transition(NamedTuple):
    """A CEL rule about `oldSelf`."""

    path: Path
    """The value that has the rule."""
    rule: Frozen
    why: str


@cache
def _transitions(api_version: str, kind: str) -> tuple[_Transition, ...]:
    served = schemas.served(api_version, kind)
    return tuple(_of_schema(served.schema, ())) if served else ()


def _of_schema(schema: Schema, path: Path) -> Iterator[_Transition]:
    for rule in schema.get("x-kubernetes-validations", ()):
        found = TRANSITIONS.get(rule["rule"])
        if found is not None:
            name = (*path, *found.field)[-1]
            _, when, condition = rule["message"].partition(" immutable ")
            yield _Transition(path, found, f"{name} is immutable{when and ' '}{condition}")
    for key, inside in schema.get("properties", {}).items():
        yield from _of_schema(inside, (*path, key))


def _by_cel(update: _ObjectUpdate) -> Iterator[RefusedChange]:
    """The refusals by CEL rules. Such a rule only runs if both states have the value."""
    api_version, kind = (str(update.old.get(it, "")) for it in ("apiVersion", "kind"))
    for path, rule, why in _transitions(api_version, kind):
        old, new = (at_path(it, path) for it in (update.old, update.new))
        if old is None or new is None:
            continue
        try:
            frozen = rule.when(new, old)
        except (AttributeError, KeyError, TypeError):  # a field has a wrong type
            frozen = False
        if not frozen:
            continue
        if rule.presence and (at_path(old, rule.field) is None) == (
            at_path(new, rule.field) is None
        ):
            continue
        yield from update.refused((*path, *rule.field), why)


_LABELS: Path = ("metadata", "labels")
_QUEUE = "kueue.x-k8s.io/queue-name"
_CLASS = "kueue.x-k8s.io/priority-class"
_TIME = "kueue.x-k8s.io/max-exec-time-seconds"
_KUEUE_LABELS = (_QUEUE, _CLASS, _TIME, "kueue.x-k8s.io/prebuilt-workload-name")
_SERVING = {
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
}
"""Kinds that Kueue counts as suspended while no replica is ready."""
_SUSPEND_FIELDS: Mapping[tuple[str, str], Path] = {
    ("batch", "Job"): ("spec", "suspend"),
    ("jobset.x-k8s.io", "JobSet"): ("spec", "suspend"),
    ("ray.io", "RayJob"): ("spec", "suspend"),
    ("ray.io", "RayCluster"): ("spec", "suspend"),
    ("trainer.kubeflow.org", "TrainJob"): ("spec", "suspend"),
    ("workload.codeflare.dev", "AppWrapper"): ("spec", "suspend"),
    **{
        ("kubeflow.org", kind): ("spec", "runPolicy", "suspend")
        for kind in ("MPIJob", "TFJob", "PyTorchJob", "PaddleJob", "XGBoostJob", "JAXJob")
    },
}
"""The field by which Kueue suspends jobs, by kind."""


def _is_gated(pod: Data) -> bool:
    """Whether Kueue holds a Pod back, or the Pod has ended."""
    gates = [it.get("name") for it in _entries(pod, "spec", "schedulingGates")]
    ended = at_path(pod, ("status", "phase")) in {"Succeeded", "Failed"}
    return ended or "kueue.x-k8s.io/admission" in gates


def _by_kueue(update: _ObjectUpdate) -> Iterator[RefusedChange]:
    """The refusals of Kueue about labels of a job."""
    old, new = (_mapping(it, *_LABELS) for it in (update.old, update.new))
    changed = [it for it in _KUEUE_LABELS if (old.get(it) or "") != (new.get(it) or "")]
    if not changed:
        return
    kind = _group_kind(update.old)
    serving = kind in _SERVING
    if serving:
        suspended = was = not at_path(update.old, ("status", "readyReplicas"))
        remedy = "scale the object to 0 replicas first, or keep the old value"
    elif kind in _SUSPEND_FIELDS:
        field = _SUSPEND_FIELDS[kind]
        suspended, was = (at_path(it, field) is True for it in (update.new, update.old))
        remedy = "suspend the job first, or keep the old value"
    elif kind == ("", "Pod"):
        suspended, was = (_is_gated(it) for it in (update.new, update.old))
        remedy = _RECREATE
    else:
        return
    for label in changed:
        name, gone = label.rpartition("/")[2], not new.get(label)
        path = (*_LABELS, label)
        if gone and (label == _CLASS or (label == _QUEUE and serving)):
            yield RefusedChange(path, f"Kueue does not let the label {name} be removed", _KEEP)
        elif label == _CLASS:
            if not old.get(label) and not suspended:
                why = f"Kueue lets the label {name} be added only to a suspended job"
                yield RefusedChange(path, why, remedy)
        elif (label == _QUEUE or not serving) and not (suspended and (was or label != _TIME)):
            why = f"Kueue lets the label {name} change only while the job is suspended"
            yield RefusedChange(path, why, remedy)
