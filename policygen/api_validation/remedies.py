"""What to write where an object breaks a rule of its CRD: the CRD's own words only say what must be."""

REMEDIES = {
    "flavors must have the same number of resources as the coveredResources": (
        "write one entry of resources for each covered resource, in each flavor"
    ),
    "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'": "write one of them",
    "supported toleration values: 'Equal'(default), 'Exists'": "write one of them",
    "must be unique": "remove what is there twice",
    "the kubernetes.io/hostname label can only be used at the lowest level of topology": (
        "put it last"
    ),
    "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never": (
        "write reclaimWithinCohort: Any or LowerPriority, or take borrowWithinCohort out"
    ),
    "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor": (
        "write TryNextFlavor for both, or take preference out"
    ),
    "operator must be Exists when 'key' is empty, which means 'match all values and all keys'": (
        "write operator: Exists, or a key"
    ),
    "effect must be 'NoExecute' when 'tolerationSeconds' is set": (
        "write effect: NoExecute, or take tolerationSeconds out"
    ),
    "a value must be empty when 'operator' is 'Exists'": "take value out, or write operator: Equal",
    "borrowingLimit must be nil when cohort is empty": "write cohortName, or take borrowingLimit out",
    "at least one nodeLabel is required when topology is set": (
        "write nodeLabels that its nodes have, or take topologyName out"
    ),
    "exactly one of the fields in [kubeConfig clusterProfileRef] must be set": (
        "write the one, and take the other out"
    ),
}
"""By the message of the rule, without a final stop."""


def advised(message: str) -> str:
    """The message, and what to write where that is known."""
    remedy = REMEDIES.get(message)
    return f"{message}; {remedy}" if remedy else message
