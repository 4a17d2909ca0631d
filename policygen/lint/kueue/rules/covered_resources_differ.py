"""A flavor and its resource group do not list the same resources in the same order."""

from policygen.core.label_grammar import key_fault
from policygen.core.quoting import some
from policygen.lint.core.resource_names import meant, provided
from policygen.lint.kueue.probable_quotas import probable_quotas
from policygen.lint.kueue.quotas import groups_at, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Another number of resources, or one twice, is refused by the CRD and reported by other rules.

    resource-name-misspelt and covered-resource-refused report names of coveredResources from which a difference
    follows. Flavors that differ in the same way are one hit.
    Source: pkg/webhooks/clusterqueue_webhook.go, validateFlavorQuotas.
    """
    there = facts.cluster.derive(provided)
    reported = "covered-resource-refused" in facts.run
    for owner in owners(facts.cluster):
        for i, group in enumerate(owner.fields.resource_groups):
            covered = group.covered_resources
            if reported and any(map(key_fault, covered)):
                continue
            differing: dict[tuple[str, ...], list[int]] = {}
            for j, flavor in enumerate(group.flavors):
                names = tuple(quota.name for quota in flavor.resources)
                if names != covered and len({*names}) == len(names) == len(covered):
                    differing.setdefault(names, []).append(j)
            for names, found in differing.items():
                first = next(k for k, name in enumerate(names) if name != covered[k])
                at = groups_at(owner, i)
                places = [at.to("flavors", j, "resources", first, "name") for j in found]
                flavors = some([group.flavors[j].name for j in found], "other flavor")
                quotas = facts.cluster.derive(probable_quotas).get(owner.at, ())
                yield Hit(
                    RULE,
                    f"coveredResources of {owner} lists {', '.join(covered)}, but "
                    f"{f'flavor {flavors} lists' if len(found) == 1 else f'flavors {flavors} list'} {', '.join(names)}, "
                    "which Kueue refuses; write the same resources in the same order in both lists",
                    places[0],
                    (at / "coveredResources", *places[1:]),
                    meant=() if any(meant(it, there) for it in covered) else quotas,
                )


RULE = ObjectRule(
    "covered-resources-differ",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="List the same resources in the same order in coveredResources and in every flavor.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
    reads=("ResourceFlavor", "Node"),
)
