"""A PersistentVolumeClaim names a StorageClass whose name looks misspelled."""

from policygen.core.quoting import quoted
from policygen.core.suggest import Names
from policygen.kubernetes.untyped import text
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity, written


def check(facts: Facts) -> Hits:
    """No provisioner creates a volume, so the claim and its pods stay Pending.

    A class can also come from the platform, so only names that are similar to a class of the input are reported.
    Source: pkg/controller/volume/persistentvolume/pv_controller.go of Kubernetes 1.36.3.
    """
    classes = Names(it.name for it in facts.cluster.of("storage.k8s.io", "StorageClass"))
    for claim in facts.cluster.persistent_volume_claims if classes else ():
        name = text(claim.object.data, "spec", "storageClassName")
        if name and name not in classes and (meant := classes.meant(name)):
            at = claim.at.to("spec", "storageClassName")
            yield Hit(
                RULE,
                f"{claim} names StorageClass {quoted(name)}, which does not exist, so the claim and its pods stay "
                f"Pending; did you mean {quoted(meant)}?",
                at,
                meant=written(at, meant),
            )


RULE = ObjectRule(
    "storage-class-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the name of an existing StorageClass.",
    judges=("PersistentVolumeClaim",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("StorageClass",),
)
