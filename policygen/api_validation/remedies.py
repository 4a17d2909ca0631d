"""What to write if an object breaks a rule of its CRD: the CRD's own message only states the rule."""

REMEDIES = {
    "flavors must have the same number of resources as the coveredResources": (
        "in every flavor, list under resources each resource of coveredResources once"
    ),
    "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'": "write one of these effects",
    "supported toleration values: 'Equal'(default), 'Exists'": "write one of these operators",
    "must be unique": "remove the duplicate entry",
    "the kubernetes.io/hostname label can only be used at the lowest level of topology": (
        "move kubernetes.io/hostname to the last level"
    ),
    "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never": (
        "write reclaimWithinCohort: Any or LowerPriority, or remove borrowWithinCohort"
    ),
    "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor": (
        "set whenCanBorrow and whenCanPreempt to TryNextFlavor, or remove preference"
    ),
    "operator must be Exists when 'key' is empty, which means 'match all values and all keys'": (
        "write operator: Exists, or a key"
    ),
    "effect must be 'NoExecute' when 'tolerationSeconds' is set": (
        "write effect: NoExecute, or remove tolerationSeconds"
    ),
    "a value must be empty when 'operator' is 'Exists'": "remove value, or write operator: Equal",
    "borrowingLimit must be nil when cohort is empty": "write cohortName, or remove borrowingLimit",
    "at least one nodeLabel is required when topology is set": (
        "write nodeLabels that the nodes of the flavor have, or remove topologyName"
    ),
    "exactly one of the fields in [kubeConfig clusterProfileRef] must be set": (
        "set kubeConfig or clusterProfileRef, and remove the other field"
    ),
}
"""By the message of the rule, without a final stop."""


def advised(message: str, rule: str) -> str:
    """The message of a CEL rule, with what to write if that is known."""
    remedy = REMEDIES.get(message)
    if remedy and "self.cohort)" in rule:  # v1beta1 of Kueue
        remedy = remedy.replace("cohortName", "cohort")
    return f"{message}; {remedy}" if remedy else message
