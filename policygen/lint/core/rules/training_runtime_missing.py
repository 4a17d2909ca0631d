"""A TrainJob names a runtime that does not exist, beside one of a similar name or of the other kind."""

from collections.abc import Iterator, Sequence

from policygen.core.suggest import Names, is_typo
from policygen.kubernetes.object import Object
from policygen.kubernetes.train_jobs import CLUSTER_RUNTIME, GROUP, KIND, RUNTIME, runtime_of
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_OF_CHART = frozenset(
    {
        *(f"{it}-distributed" for it in ("torch", "deepspeed", "mlx", "jax", "xgboost")),
        "torch-distributed-with-cache",
        "torchtune-llama3.2-1b",
        "torchtune-llama3.2-3b",
        "torchtune-qwen2.5-1.5b",
    }
)
"""The ClusterTrainingRuntimes that the Trainer's chart installs."""
_LIKE = 0.8
"""The least similarity of words that mean the same, as difflib computes it."""


def check(facts: Facts) -> Hits:
    """The Trainer's webhook refuses the TrainJob. Others can install runtimes, so the names must be similar.

    Source: ValidateObjects in pkg/runtime/core of the Kubeflow Trainer 2.2.1.
    """
    of = facts.cluster.of
    for job in of(GROUP, KIND):
        kind, name, _ = runtime_of(job)
        if kind not in (CLUSTER_RUNTIME, RUNTIME) or name in {"", *_OF_CHART}:
            continue
        known = {it: set(_names(of(GROUP, it), job)) for it in (CLUSTER_RUNTIME, RUNTIME)}
        if name in known.pop(kind):
            continue
        at = job.at.to("spec", "runtimeRef")
        (other,) = known
        missing = f'{job} names {kind} "{name}", which does not exist'
        if name in known[other]:
            yield Hit(RULE, f"{missing}, but {other} {name} does; write kind: {other}", at)
            continue
        names = [it for it in _names(of(GROUP, kind), job) if _is_meant(name, it)]
        if meant := Names(names).meant(name):
            yield Hit(RULE, f'{missing}; did you mean "{meant}"?', at / "name")


def _names(runtimes: Sequence[Object], job: Object) -> Iterator[str]:
    return (it.name for it in runtimes if it.namespace in ("", job.namespace))


def _is_meant(name: str, other: str) -> bool:
    """Whether names differ by a typo, or by one character too many or too few; `a100` and `h100` do not."""
    short, long = sorted((name, other), key=len)
    is_part = any(long[:i] + long[i + 1 :] == short for i in range(len(long)))
    return is_typo(name, other, like=_LIKE) or is_part


RULE = ObjectRule(
    "training-runtime-missing",
    Severity.WARNING,
    Family.INVALID,
    __doc__,
    remedy="Write the name and kind of an existing runtime, or create the missing one before the TrainJob.",
    judges=(KIND,),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=(CLUSTER_RUNTIME, RUNTIME),
)
