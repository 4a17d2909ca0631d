"""A training job of Kubeflow has a role, a container name or a number of pods that its operator refuses."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from policygen.core.finding import At, Edit, Path, Verb
from policygen.core.quoting import quoted
from policygen.core.suggest import Names
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.untyped import mapping, mappings, text
from policygen.kubernetes.workloads import APP_WRAPPER, wrapped
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_GROUP = "kubeflow.org"
_NAME = re.compile("[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_POLICIES = ("Always", "ExitCode", "Never", "OnFailure")


class _TrainingKind(Struct, frozen=True):
    roles: str
    """The field with the roles."""
    known: tuple[str, ...]
    """Its roles; empty: any."""
    container: str
    """The name that a container of each role must have; empty: any."""
    leader: str = ""
    """The role that has one pod."""
    required: bool = False
    """Whether a job must have this role."""
    policies: tuple[str, ...] = _POLICIES
    some: bool = False
    """Whether each other role needs at least one pod."""


_MASTER = ("Master", "Worker")
_MPI = ("Launcher", "Worker")
_KINDS: Mapping[tuple[str, str], _TrainingKind] = {
    ("v1", "PyTorchJob"): _TrainingKind(
        "pytorchReplicaSpecs", _MASTER, "pytorch", "Master", some=True
    ),
    ("v1", "TFJob"): _TrainingKind("tfReplicaSpecs", (), "tensorflow"),
    ("v1", "XGBoostJob"): _TrainingKind(
        "xgbReplicaSpecs", _MASTER, "xgboost", "Master", required=True
    ),
    ("v1", "PaddleJob"): _TrainingKind("paddleReplicaSpecs", _MASTER, "paddle"),
    ("v1", "JAXJob"): _TrainingKind("jaxReplicaSpecs", ("Worker",), "jax"),
    ("v1", "MPIJob"): _TrainingKind("mpiReplicaSpecs", _MPI, "", "Launcher", required=True),
    ("v2beta1", "MPIJob"): _TrainingKind(
        "mpiReplicaSpecs",
        _MPI,
        "",
        "Launcher",
        required=True,
        policies=("Never", "OnFailure"),
        some=True,
    ),
}


class _TrainingFault(Struct, frozen=True):
    path: Path
    text: str
    advice: str
    meant: tuple[Path, Any] | None = None
    """What was probably meant, and where."""
    effect: str = ""
    """What follows, if not a refusal of the job."""


def check(facts: Facts) -> Hits:
    """The training operator checks its jobs in a webhook, and MPIJobs when it runs them.

    Source: pkg/webhooks and pkg/apis/kubeflow.org/v1/mpi_validation.go of the training operator 1.9.3;
    pkg/apis/kubeflow/validation/validation.go of mpi-operator 0.6.0.
    """
    for owner, at, data in _jobs(facts.cluster):
        version, kind = text(data, "apiVersion").rpartition("/")[2], text(data, "kind")
        if (known := _KINDS.get((version, kind))) is None:
            continue
        refused = (
            "so its operator creates no pods" if kind == "MPIJob" else "which its webhook refuses"
        )
        for it in _faults(known, data):
            meant: tuple[Edit, ...] = ()
            if it.meant is not None:
                meant = (Edit(Verb.REWRITE, at.to(*it.meant[0]), it.meant[1]),)
            message = f"{owner} {it.text}, {it.effect or refused}; {it.advice}"
            yield Hit(RULE, message, at.to(*it.path), meant=meant)


def _jobs(cluster: Cluster) -> Iterator[tuple[str, At, Mapping[str, Any]]]:
    """The jobs of Kubeflow, and those that AppWrappers create."""
    for kind in sorted({kind for _, kind in _KINDS}):
        for job in cluster.of(_GROUP, kind):
            yield str(job), job.at, job.data
    for wrapper in cluster.of("workload.codeflare.dev", APP_WRAPPER):
        for it in wrapped(wrapper.data):
            if it.group == _GROUP:
                yield str(wrapper), wrapper.at.to(*it.path), it.data


def _faults(kind: _TrainingKind, job: Mapping[str, Any]) -> Iterator[_TrainingFault]:
    roles = mapping(job, "spec", kind.roles)
    if not roles:
        return  # missing-field or wrong-type reports it
    at: Path = ("spec", kind.roles)
    name = text(job, "metadata", "name")
    if kind.container and name and not _NAME.fullmatch(name):
        yield _TrainingFault(
            ("metadata", "name"),
            f"has name {quoted(name)}",
            "write at most 63 lower-case letters, digits and dashes, and begin with a letter",
        )
    if strange := [role for role in roles if kind.known and role not in kind.known]:
        for role in strange:
            yield _TrainingFault(
                (*at, role), f"has role {quoted(role)}", Names(kind.known).advice(role)
            )
        return
    if kind.required and kind.leader not in roles:
        yield _TrainingFault(
            at, f"has no role {kind.leader}", f"write {kind.leader} with replicas: 1"
        )
    if not kind.known and "Chief" in roles and "Master" in roles:
        yield _TrainingFault(at, "has the roles Chief and Master", "remove one of them")
    if "elasticPolicy" in mapping(job, "spec") and kind.container == "pytorch":
        yield from _elastic(mapping(job, "spec"), roles)
    for role in roles:
        if isinstance(spec := roles[role], dict):
            yield from _of_role(kind, role, spec, (*at, role))


def _elastic(spec: Mapping[str, Any], roles: Mapping[str, Any]) -> Iterator[_TrainingFault]:
    at: Path = ("spec", "elasticPolicy")
    if "Worker" not in roles:
        yield _TrainingFault(at, "has an elasticPolicy but no role Worker", "write Worker")
    processes = mapping(spec, "elasticPolicy").get("nProcPerNode")
    if processes is not None and spec.get("nprocPerNode") is not None:
        yield _TrainingFault(
            (*at, "nProcPerNode"),
            "has nprocPerNode and elasticPolicy.nProcPerNode",
            "remove elasticPolicy.nProcPerNode",
        )


def _of_role(
    kind: _TrainingKind, role: str, spec: Mapping[str, Any], at: Path
) -> Iterator[_TrainingFault]:
    pods = spec.get("replicas")
    one = 1 if pods is None and not kind.container else pods  # MPIJobs get their defaults first
    if role == kind.leader and one != 1 and (one is None or type(one) is int):
        count = "no replicas" if pods is None else f"replicas {pods}"
        place = at if pods is None else (*at, "replicas")
        meant = None if pods is None else (place, 1)
        yield _TrainingFault(place, f"has {count} for its {role}", "write replicas: 1", meant)
    elif kind.some and role != kind.leader and type(pods) is int and pods < 1:
        place = (*at, "replicas")
        yield _TrainingFault(
            place, f"has replicas {pods} for its {role}", f"write 1 or more, or remove {role}"
        )
    policy = spec.get("restartPolicy")
    if isinstance(policy, str) and policy and policy not in kind.policies:
        place = (*at, "restartPolicy")
        similar = Names(kind.policies).meant(policy)
        refused_later = "" if kind.policies != _POLICIES else "so its pods are refused"
        yield _TrainingFault(
            place,
            f"has restartPolicy {quoted(policy)} for its {role}",
            Names(kind.policies).advice(policy),
            (place, similar) if similar else None,
            refused_later,
        )
    containers = mappings(spec, "template", "spec", "containers")
    names = [text(it, "name") for it in containers]
    if kind.container and all(names) and names and kind.container not in names:
        place = (*at, "template", "spec", "containers", 0, "name")
        yield _TrainingFault(
            place,
            f"has no container {quoted(kind.container)} for its {role}",
            f"rename the container that trains to {kind.container}",
            (place, kind.container) if len(names) == 1 else None,
        )


RULE = ObjectRule(
    "training-job-refused",
    Severity.WARNING,
    Family.INVALID,
    __doc__,
    remedy="Write the roles, container names and numbers of pods that the operator of this kind knows.",
    judges=("AppWrapper", *sorted({kind for _, kind in _KINDS})),
    check=check,
)
