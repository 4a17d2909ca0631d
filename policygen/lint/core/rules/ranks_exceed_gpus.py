"""A field or flag states more GPUs, or ranks with a GPU each, than the pod requests."""

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import chain
from typing import Any

from policygen.core.finding import At, Path
from policygen.core.quoting import counted
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.untyped import entries, integer, mapping, numbered, read_amount, text
from policygen.kubernetes.workloads import KINDS, RAY_CLUSTERS
from policygen.lint.core.pod_templates import Part, PodPart, pod_specs, pods_of_operators
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_TORCHRUN = re.compile(r"--nproc[-_]per[-_]node(?:=(\d+))?")
_VLLM = re.compile(r"(?:--tensor-parallel-size|-tp)(?:=(\d+))?")
_OPTION = re.compile(r"--nproc[-_]per[-_]node|--tensor-parallel-size|-tp")
"""Of one of these programs."""
_GPU = re.compile(r".+/(gpu|mig-.*)")
_SINGLE = ("", "apps", "argoproj.io")
"""Groups whose pods do not work together; in others, vLLM can use the GPUs of several pods."""
_SEVERAL = re.compile(r"ray|--nnodes|--node-rank")


def check(facts: Facts) -> Hits:
    """Ranks without a GPU fail. Skips values that are not numbers, and ranks in pods without GPUs, which use cores.

    Source: docs of torchrun and vLLM; v2beta1 of mpi-operator 0.6.0 (slotsPerWorker); the training operator 1.9.3
    (nprocPerNode); docs of Ray (num-gpus).
    """
    for spec in chain(pod_specs(facts.cluster), pods_of_operators(facts.cluster)):
        for container in spec.containers:
            if "command" in container.data or "args" in container.data:
                yield from _of_container(spec, container)
    for owner, at, ranks, pod in _of_jobs(facts.cluster):
        counts = [_gpus(it) for _, it in numbered(pod, "spec", "containers")]
        known = [it for it in counts if it is not None]
        gpus = sum(known, Fraction(0))
        if not known or len(known) < len(counts) or mapping(pod, "spec").get("resourceClaims"):
            continue
        if ranks > gpus and (gpus or at.path[-1] == "num-gpus"):
            field = at.path[-1]
            yield Hit(
                RULE,
                f"{owner} has {field} {ranks}, but each of these pods requests only {counted(str(gpus), 'GPU')}, so ranks "
                f"or tasks have no GPU; write {field}: {gpus}, or request {counted(ranks, 'GPU')}",
                at,
            )


def _of_container(spec: PodPart, container: Part) -> Hits:
    if not _has_option(container):
        return
    gpus = _gpus(container.data)
    if not gpus:
        return
    words = list(_words(container))
    for (path, word), (_, following) in zip(words, [*words[1:], ((), "")], strict=False):
        found = _TORCHRUN.fullmatch(word) or _VLLM.fullmatch(word)
        if found is None or (found.re is _VLLM and _work_together(spec, words)):
            continue
        number = found[1] or following
        if number.isdecimal() and int(number) > gpus:
            name = word.partition("=")[0]
            yield Hit(
                RULE,
                f"{spec.owner} runs with {name} {number}, but its container requests only {counted(str(gpus), 'GPU')}, "
                f"so ranks have no GPU; write {name} {gpus}, or request {number} GPUs",
                container.at.to(*path),
            )


def _work_together(spec: PodPart, words: Iterable[tuple[Path, str]]) -> bool:
    """Whether vLLM may use the GPUs of other pods too."""
    group = spec.owner.object.group
    return group not in _SINGLE or any(_SEVERAL.search(word) for _, word in words)


def _words(container: Part) -> Iterator[tuple[Path, str]]:
    """The words of the command line, with their places; those of a script are separated by spaces."""
    for field in ("command", "args"):
        for i, entry in enumerate(entries(container.data, field)):
            for word in entry.split() if isinstance(entry, str) else ():
                yield (field, i), word


def _has_option(container: Part) -> bool:
    for field in ("command", "args"):
        for entry in entries(container.data, field):
            if isinstance(entry, str) and _OPTION.search(entry):
                return True
    return False


def _gpus(container: Mapping[str, Any]) -> Fraction | None:
    """The GPUs that a container requests; None if it requests other accelerators, of which ranks may use parts."""
    resources = mapping(container, "resources")
    amounts = {**mapping(resources, "requests"), **mapping(resources, "limits")}
    found = [name for name in amounts if is_one(name)]
    if not all(map(_GPU.fullmatch, found)):
        return None
    return sum((read_amount(amounts[it]) or Fraction(0) for it in found), Fraction(0))


def _of_jobs(cluster: Cluster) -> Iterator[tuple[str, At, int, Mapping[str, Any]]]:
    """The fields of kinds of operators: their owner, place and number, and the template of the pods."""
    for job in cluster.of("kubeflow.org", "MPIJob"):
        slots = integer(mapping(job.data, "spec").get("slotsPerWorker"))
        worker = mapping(job.data, "spec", "mpiReplicaSpecs", "Worker", "template")
        if slots is not None and worker:
            yield str(job), job.at.to("spec", "slotsPerWorker"), slots, worker
    for job in cluster.of("kubeflow.org", "PyTorchJob"):
        ranks = text(job.data, "spec", "nprocPerNode")
        roles = mapping(job.data, "spec", "pytorchReplicaSpecs")
        if roles and ranks.isdecimal():
            template = mapping(roles, next(iter(roles)), "template")
            yield str(job), job.at.to("spec", "nprocPerNode"), int(ranks), template
    for kind, way in RAY_CLUSTERS.items():
        for obj in cluster.of("ray.io", kind):
            root: Path = ("spec", *way)
            spec = mapping(obj.data, *map(str, root))
            groups: list[tuple[Path, dict[str, Any]]] = [
                (("headGroupSpec",), mapping(spec, "headGroupSpec"))
            ]
            groups += [
                (("workerGroupSpecs", i), it) for i, it in numbered(spec, "workerGroupSpecs")
            ]
            for path, group in groups:
                number = text(group, "rayStartParams", "num-gpus")
                if number.isdecimal():
                    at = obj.at.to(*root, *path, "rayStartParams", "num-gpus")
                    yield str(obj), at, int(number), mapping(group, "template")


RULE = ObjectRule(
    "ranks-exceed-gpus",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Start as many ranks as the pod requests GPUs, or request more GPUs.",
    judges=KINDS,
    check=check,
)
