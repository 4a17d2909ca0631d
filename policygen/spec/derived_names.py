"""Names that the user does not write: each is joined from names of the spec in one function here.

The plan gives them to objects, and the spec's checks measure them.
"""

from typing import Literal

from policygen.spec.types import Model, Platform, Priority, Team


def own_leaf(team: Team) -> str:
    """The leaf of a team that has both child teams and namespaces."""
    return f"{team.name}.own"


def queue(node: str, root: str) -> str:
    """A queue or cohort on the cluster: a team, or its own leaf, below the queue that it is in."""
    return f"{node}.{root}"


def preempting_class(priority: Priority) -> str:
    """The second class of a priority, where some pools preempt for it and others must not."""
    return f"{priority.name}.preempting"


def profile(platform: Platform, style: Literal["binpack", "spread"]) -> str:
    """A scheduler profile, which pods name as their scheduler."""
    return f"{platform.name}.{style}"


def component(platform: Platform, suffix: str) -> str:
    """What a second scheduler needs besides itself.

    Joined by a hyphen: a dot in a Deployment's name makes the API server warn.
    """
    return f"{platform.name}-{suffix}"


def second_scheduler(platform: Platform) -> str:
    """The name of the second kube-scheduler and of the objects that only it uses."""
    return component(platform, "kube-scheduler")


def pod_group(model: Model, index: int) -> str:
    """The pod group of one of a model's gangs; the only gang's is called as the model."""
    return model.name if (model.replicas or 1) == 1 else f"{model.name}.{index}"
