"""A ResourceQuota limits a resource by a name that the API server never counts."""

from collections.abc import Mapping
from fractions import Fraction

from policygen.core.finding import At
from policygen.core.label_grammar import key_fault
from policygen.lint.core.resource_names import extended, is_certain, meant, meant_mig
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb

_COUNTED = (".storageclass.storage.k8s.io/", ".deviceclass.resource.k8s.io/")


def check(facts: Facts) -> Hits:
    """Any name with a domain is accepted; extended resources are counted only under `requests.`.

    Source: pkg/quota/v1/evaluator/core/pods.go; pkg/apis/core/validation/validation.go
    (Kubernetes 1.36.3); NVIDIA/k8s-device-plugin#211.
    """
    for quota in facts.cluster.resource_quotas:
        for name in quota.fields.hard:
            bare = _bare(name)
            if "/" not in bare or name.startswith("count/"):
                continue
            if any(word in bare for word in _COUNTED) or key_fault(name):
                continue
            right = meant(bare) or meant_mig(bare)
            if name.startswith("requests.") and right is None and extended(bare):
                continue
            at = quota.at.to("spec", "hard", name).on_key()
            counted = f"requests.{right or bare}"
            if counted in quota.fields.hard and counted != name:
                advice = f"remove this key, because {counted} is set too"
            elif not extended(bare):
                advice = "remove this key, because names with kubernetes.io/ are never counted"
            else:
                advice = f"write {counted}"
                if not right and not is_certain(bare):
                    advice = f"write {counted} if the nodes have the resource {bare}"
            yield Hit(
                RULE,
                f'{quota} limits "{name}", which is accepted but never counted, so the limit has no effect; '
                f"{advice}",
                at,
                edits=_edits(at, quota.fields.hard, bare) if is_certain(bare) and not right else (),
                meant=(_meant(at, counted, quota.fields.hard),),
            )


def _bare(name: str) -> str:
    return name.removeprefix("limits.").removeprefix("requests.")


def _meant(at: At, counted: str, hard: Mapping[str, Fraction]) -> Edit:
    """The key with the name that is counted, or without it if another key has this name."""
    return Edit(Verb.REMOVE, at) if counted in hard else Edit(Verb.RENAME, at, counted)


def _edits(at: At, hard: Mapping[str, Fraction], bare: str) -> tuple[Edit, ...]:
    """Renames the key to the counted name, or removes it if that key exists.

    Without edits if the keys of the resource have different amounts: the intended one is unknown.
    """
    if len({amount for name, amount in hard.items() if _bare(name) == bare}) > 1:
        return ()
    if f"requests.{bare}" in hard:
        return (Edit(Verb.REMOVE, at),)
    return (Edit(Verb.RENAME, at, f"requests.{bare}"),)


RULE = ObjectRule(
    "gpu-quota-counts-nothing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy='Write the name with the prefix "requests.", such as requests.nvidia.com/gpu.',
    judges=("ResourceQuota",),
    check=check,
    fix=Fix.UNSAFE,
    aliases=("gpu-quota-binds-nothing",),
)
