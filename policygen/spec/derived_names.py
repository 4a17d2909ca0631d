"""Names that policygen composes from names of the spec, one function for each.

The plan uses them for objects, and the spec's checks limit their length.
"""

from typing import Literal

from policygen.spec.types import Model, Platform, Priority


def own_leaf(team: str) -> str:
    """The leaf of a team that has both child teams and namespaces."""
    return f"{team}.own"


def queue(node: str, root: str) -> str:
    """A queue or cohort on the cluster: a team, or its own leaf, below the root of its queue."""
    return f"{node}.{root}"


def preempting_class(priority: Priority) -> str:
    """The second class of a priority, if some pools preempt for it and others must not."""
    return f"{priority.name}.preempting"


def profile(platform: Platform, style: Literal["binpack", "spread"]) -> str:
    """A scheduler profile, which pods name as their scheduler."""
    return f"{platform.name}.{style}"


def component(platform: Platform, suffix: str) -> str:
    """An object that a second scheduler needs.

    With a hyphen, because the API server warns about a dot in a Deployment's name.
    """
    return f"{platform.name}-{suffix}"


def second_scheduler(platform: Platform) -> str:
    """The name of the second kube-scheduler and of the objects that only it uses."""
    return component(platform, "kube-scheduler")


def pod_group(model: Model, index: int) -> str:
    """The pod group of one of a model's gangs; that of an only gang has the model's name."""
    return model.name if (model.replicas or 1) == 1 else f"{model.name}.{index}"
