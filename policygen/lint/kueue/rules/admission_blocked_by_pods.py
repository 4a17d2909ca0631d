"""waitForPodsReady.blockAdmission makes Kueue admit one workload at a time."""

from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue admits nothing in the cluster until the pods of the last workload are ready.

    In v1beta1 this is the default. Source: apis/config/v1beta1/configuration_conversion.go.
    """
    for entry, rules in all_settings(facts):
        stanza = entry.fields.wait_for_pods_ready
        if stanza is None or not rules.waits_for_pods:
            continue
        old = entry.object.version == "v1beta1"
        if stanza.get("blockAdmission", old) is True:
            yield Hit(
                RULE,
                "waitForPodsReady.blockAdmission stops admission in all queues until the pods of "
                "the last workload are ready; write blockAdmission: false",
                entry.at.to("waitForPodsReady", "blockAdmission"),
            )


RULE = ObjectRule(
    "admission-blocked-by-pods",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write blockAdmission: false.",
    judges=("Configuration",),
    check=check,
    reads=("Deployment",),
)
