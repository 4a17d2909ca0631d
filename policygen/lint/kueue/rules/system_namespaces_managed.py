"""managedJobsNamespaceSelector matches kube-system or Kueue's own namespace, so Kueue exits."""

from policygen.core.names import KUBE_SYSTEM, KUEUE_NAMESPACE, NAMESPACE_NAME
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The manager exits at start. Its own namespace is kueue-system if the file does not name it.

    Source: pkg/config/validation.go, validateManagedJobsNamespaceSelector; SetDefaults_Configuration.
    """
    for entry, rules in all_settings(facts):
        named = entry.object.data.get("namespace") is not None
        for name in (KUBE_SYSTEM, entry.fields.namespace if named else KUEUE_NAMESPACE):
            if name and rules.managed.selects({NAMESPACE_NAME: name}):
                yield Hit(
                    RULE,
                    f"managedJobsNamespaceSelector matches {name}, so Kueue does not start; "
                    f"exclude kube-system and Kueue's own namespace with NotIn on label {NAMESPACE_NAME}",
                    entry.at / "managedJobsNamespaceSelector",
                )
                break


RULE = ObjectRule(
    "system-namespaces-managed",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Exclude kube-system and Kueue's own namespace by name.",
    judges=("Configuration",),
    check=check,
)
