"""A MultiKueueConfig names a MultiKueueCluster that does not exist."""

from policygen.core.suggest import suggest
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue uses the other clusters; without any, the check is inactive (NoUsableClusters).

    Source: pkg/controller/admissionchecks/multikueue/admissioncheck.go.
    """
    known = facts.cluster.multi_kueue_clusters
    for config in facts.cluster.multi_kueue_configs:
        for i, name in enumerate(config.fields.clusters):
            if not known.knows(name) and name not in config.fields.clusters[:i]:
                yield Hit(
                    RULE,
                    f'{config} names MultiKueueCluster "{name}", which does not exist; '
                    f"{suggest(name, known.names(), 'MultiKueueCluster')}",
                    config.at.to("spec", "clusters", i),
                )


RULE = ObjectRule(
    "multi-kueue-cluster-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Create the MultiKueueCluster, or remove its name from the MultiKueueConfig.",
    judges=("MultiKueueConfig",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("MultiKueueCluster",),
)
