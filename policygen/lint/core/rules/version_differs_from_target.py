"""A component of the cluster has a version that differs from the target, or that policygen does not support."""

from policygen.core import versions
from policygen.core.finding import At
from policygen.core.versions import Version
from policygen.kubernetes.controllers import KUBERNETES, SCHEDULER, controllers, version
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A target without a patch means every patch. Rules use the version that runs.

    Source: the server's /version; labels and images of the controllers' Deployments.
    """
    seen = facts.cluster.seen
    if seen is None:
        return
    runs: list[tuple[str, Version | None, str, At | None]] = [
        (KUBERNETES, version(seen.server), "the API server", None)
    ]
    runs += [
        (controller.component, controller.version, str(controller.object), controller.object.at)
        for controller in controllers(facts.cluster.of("apps", "Deployment"))
        if controller.component != SCHEDULER
    ]
    for component, found, who, at in runs:
        target = facts.requested.get(component)
        if found is None or _same(target, found):
            continue
        first, last = versions.SUPPORTED[component]
        is_known = first <= found.release <= last
        if target is None and is_known:
            continue
        fault = f"{who} is {component} {found}"
        if target:
            fault = f"{who} is {component} {found}, but the target is {target}"
        advice = (
            f"set target.{component} of the Platform to {versions.written(found.release)}, or "
            f"install {target}"
        )
        if not is_known:
            advice = (
                f"policygen supports {component} {versions.written(first)} to "
                f"{versions.written(last)}, so policygen checks the objects as if the version were "
                f"{facts.target[component]}"
            )
        yield Hit(RULE, f"{fault}; {advice}", at)


def _same(target: Version | None, found: Version) -> bool:
    return (
        target is not None
        and target.release == found.release
        and target.patch in {None, found.patch}
    )


RULE = ObjectRule(
    "version-differs-from-target",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set the Platform's target to the running version, and render again.",
    judges=(),
    check=check,
    needs=frozenset({Need.SEEN}),
    reads=("Deployment",),
)
