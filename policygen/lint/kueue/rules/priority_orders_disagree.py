"""WorkloadPriorityClasses and PriorityClasses of the same names have opposite orders."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue uses the WorkloadPriorityClass, kube-scheduler the PriorityClass of the pods.

    Source: concepts/workload_priority_class.md of Kueue's documentation.
    """
    both = [
        (entry.fields.value, other.fields.value, entry, other)
        for entry in facts.cluster.workload_priority_classes
        if (other := facts.cluster.priority_classes.get(entry.name)) is not None
    ]
    both.sort(key=lambda it: it[:2])
    top = None
    for here in both:
        # `top`: of the classes that Kueue ranks lower, the one that kube-scheduler ranks highest.
        if top is not None and top[0] < here[0] and top[1] > here[1]:
            _, _, entry, other = here
            yield Hit(
                RULE,
                f"{entry} has a higher value than {top[2].name}, but the PriorityClasses of the same "
                "names have the opposite order, so kube-scheduler evicts pods that Kueue ranks "
                "first; give the PriorityClasses the same order",
                entry.at / "value",
                related=(other.at / "value", top[2].at / "value", top[3].at / "value"),
            )
        if top is None or here[1] > top[1]:
            top = here


RULE = ObjectRule(
    "priority-orders-disagree",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Give the PriorityClasses the same order as the WorkloadPriorityClasses.",
    judges=("WorkloadPriorityClass",),
    check=check,
    reads=("PriorityClass",),
)
