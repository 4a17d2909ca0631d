"""managedJobsNamespaceSelector matches kube-system or Kueue's own namespace, so Kueue exits."""

from collections.abc import Set as AbstractSet

from policygen.core.finding import At
from policygen.core.names import KUBE_SYSTEM, KUEUE_NAMESPACE, NAMESPACE_NAME
from policygen.core.quoting import listed
from policygen.kubernetes.configurations import KueueConfigurationView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import numbered, texts
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written

_SELECTOR = "managedJobsNamespaceSelector"


def check(facts: Facts) -> Hits:
    """The manager exits at start. Its own namespace is kueue-system if the file does not name it.

    Source: pkg/config/validation.go, validateManagedJobsNamespaceSelector; SetDefaults_Configuration.
    """
    for entry, rules in all_settings(facts):
        named = entry.object.data.get("namespace") is not None
        manager = entry.fields.namespace if named else KUEUE_NAMESPACE
        own = [KUBE_SYSTEM, *{manager} - {KUBE_SYSTEM, ""}]
        matched = [it for it in own if rules.managed.selects({NAMESPACE_NAME: it})]
        if matched:
            operator, values = _inverted(facts, entry)
            remedy = f"exclude {listed(own, 'and')} with NotIn on label {NAMESPACE_NAME}"
            if operator:
                missing = [it for it in own if it not in values]
                also = f", and add {missing[0]} to its values" if missing else ""
                remedy = f"write operator: NotIn{also}"
            yield Hit(
                RULE,
                f"managedJobsNamespaceSelector matches {matched[0]}, so Kueue does not start; {remedy}",
                entry.at / _SELECTOR,
                meant=written(operator, "NotIn") if operator else (),
            )


def _inverted(
    facts: Facts, entry: Entry[KueueConfigurationView]
) -> tuple[At | None, AbstractSet[str]]:
    """The operator In with kube-system and without a namespace of a LocalQueue, which was meant to be NotIn, and its values."""
    queues = {it.namespace for it in facts.cluster.local_queues}
    for i, term in numbered(entry.object.data, _SELECTOR, "matchExpressions"):
        values = set(texts(term, "values"))
        is_in = (term.get("key"), term.get("operator")) == (NAMESPACE_NAME, "In")
        if is_in and KUBE_SYSTEM in values and not values & queues:
            return entry.at.to(_SELECTOR, "matchExpressions", i, "operator"), values
    return None, frozenset()


RULE = ObjectRule(
    "system-namespaces-managed",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Exclude kube-system and Kueue's own namespace by name.",
    judges=("Configuration",),
    reads=("LocalQueue",),
    check=check,
)
