"""Fields of workloads and of their pods that servers refuse beside each other.

Source: pkg/apis/{core,apps,batch}/validation/validation.go of Kubernetes 1.36.3.
"""

from collections.abc import Iterator
from math import ceil

from policygen.core import quantity
from policygen.core.finding import At
from policygen.core.quoting import quoted
from policygen.kubernetes.workloads import Workload
from policygen.lint.core import pod_templates
from policygen.lint.core.pod_templates import Part, named
from policygen.lint.core.standard_resources import HUGE_PAGES

Fault = tuple[At, str]
"""Where, and a message."""

_PROGRESS_S = 600
"""A Deployment's progressDeadlineSeconds where it is not written."""
_STRATEGIES = {"Deployment": "strategy", "StatefulSet": "updateStrategy"}
_ROLLING = "RollingUpdate"
_OF_PODS = ("cpu", "memory")
_REASONS = ("onExitCodes", "onPodConditions")


def of_workload(it: Workload) -> Iterator[Fault]:
    """Of the fields of a Deployment, StatefulSet, Job or CronJob."""
    spec = Part(it, it.at / "spec", it.spec)
    if it.object.group == "apps":
        yield from _rollout(spec)
    elif it.object.group == "batch":
        above = spec.under("jobTemplate").under("spec") if it.kind == "CronJob" else spec
        yield from _job(above, made_by=it.kind == "CronJob")


def _rollout(spec: Part) -> Iterator[Fault]:
    it = spec.owner
    if it.kind == "Deployment":
        ready, progress = (
            spec.data.get(name, default)
            for name, default in (("minReadySeconds", 0), ("progressDeadlineSeconds", _PROGRESS_S))
        )
        if isinstance(ready, int) and isinstance(progress, int) and 0 <= progress <= ready:
            yield (
                spec.at / "progressDeadlineSeconds",
                (
                    f"{it} gives up after {progress} s and its pods are ready after {ready} s, which is "
                    f"refused; write progressDeadlineSeconds: {ready + 1} or more"
                ),
            )
    field = _STRATEGIES.get(it.kind, "")
    strategy = spec.under(field)
    kind = strategy.data.get("type")
    if isinstance(kind, str) and kind not in ("", _ROLLING) and strategy.data.get("rollingUpdate"):
        yield (
            strategy.at / "rollingUpdate",
            f"{it} has {field} {kind} with a rollingUpdate, which is refused; take it out",
        )


def _job(spec: Part, *, made_by: bool) -> Iterator[Fault]:
    it = spec.owner
    if spec.data.get("manualSelector") is True and (made_by or not spec.data.get("selector")):
        advice = "take it out" if made_by else "take it out, or write the selector"
        yield spec.at / "manualSelector", f"{it} has a manualSelector, which is refused; {advice}"
    for rule in spec.under("podFailurePolicy").items("rules"):
        reasons = [name for name in _REASONS if rule.data.get(name)]
        if len(reasons) != 1:
            yield (
                rule.at,
                (
                    f"{it} has a rule of podFailurePolicy with {'both' if reasons else 'neither'} of "
                    f"{' and '.join(_REASONS)}, which is refused; write one"
                ),
            )
        codes = rule.under("onExitCodes")
        values = codes.data.get("values")
        if codes.data.get("operator") == "In" and isinstance(values, list) and 0 in values:
            yield (
                codes.at.to("values", values.index(0)),
                f"{it} counts exit code 0 among failures, which is refused; take it out",
            )


def of_pod(spec: Part) -> Iterator[Fault]:
    """Of the fields of a pod."""
    whole = spec.under("resources")
    for part in (whole.under("requests"), whole.under("limits")):
        for name in part.data:
            if name not in _OF_PODS and not name.startswith(HUGE_PAGES):
                yield (
                    (part.at / name).on_key(),
                    (
                        f"{spec.owner} asks for {quoted(name)} for the pod as a whole, which is refused; "
                        "write it for a container"
                    ),
                )
    config = spec.under("dnsConfig")
    if spec.data.get("dnsPolicy") == "None" and not config.data.get("nameservers"):
        yield (
            spec.at / "dnsPolicy",
            (
                f"{spec.owner} has dnsPolicy None and no nameservers, which is refused; write "
                "dnsConfig.nameservers"
            ),
        )
    for container in pod_templates.containers(spec):
        yield from _container(container)


def _container(container: Part) -> Iterator[Fault]:
    context = container.under("securityContext")
    if context.data.get("privileged") is True and (
        context.data.get("allowPrivilegeEscalation") is False
    ):
        yield (
            context.at / "allowPrivilegeEscalation",
            f"{named(container)} is privileged and allows no escalation, which is refused; take one out",
        )
    resources = container.under("resources")
    for part in (resources.under("limits"), resources.under("requests")):
        for name, amount in part.data.items():
            if name.startswith(HUGE_PAGES) and _is_broken(name, amount):
                yield (
                    part.at / name,
                    (
                        f"{named(container)} asks for {amount} of {name}, which is refused; write a "
                        "multiple of the size of a page"
                    ),
                )
                return


def _is_broken(name: str, amount: object) -> bool:
    """Whether an amount of huge pages is no whole number of pages."""
    if isinstance(amount, bool) or not isinstance(amount, int | float | str):
        return False
    try:
        size = quantity.parse(name.removeprefix(HUGE_PAGES)).value
        whole = ceil(quantity.parse(amount).value)
    except ValueError:
        return False
    return size > 0 and whole > 0 and whole % size != 0
