"""integrations.frameworks lists an integration twice, or lists an unknown integration."""

from policygen.core.suggest import suggest
from policygen.core.versions import Minor
from policygen.kubernetes.kueue_jobs import FRAMEWORKS
from policygen.lint.kueue.configuration import all_settings
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb

_LATER: dict[str, Minor] = {
    "trainer.kubeflow.org/trainjob": (0, 14),
    "ray.io/rayservice": (0, 17),
    "sparkoperator.k8s.io/sparkapplication": (0, 17),
}
"""Integrations that not every supported release has, and the first release that has them."""

_ALL = {*FRAMEWORKS.values(), *_LATER, "workload.codeflare.dev/appwrapper"}


def check(facts: Facts) -> Hits:
    """The manager exits at start.

    Source: pkg/config/validation.go, validateIntegrations; pkg/controller/jobs.
    """
    release = facts.target["kueue"].release
    known = {name for name in _ALL if _LATER.get(name, release) <= release}
    for entry, rules in all_settings(facts):
        if not entry.fields.integrations or not entry.fields.integrations.get("frameworks"):
            continue
        for i, name in enumerate(rules.frameworks):
            at = entry.at.to("integrations", "frameworks", i)
            if name not in known:
                yield Hit(
                    RULE,
                    f'framework "{name}" does not exist in this Kueue release, so Kueue does not start; '
                    f"{suggest(name, known)}",
                    at,
                )
            elif name in rules.frameworks[:i]:
                yield Hit(
                    RULE,
                    f'framework "{name}" is listed twice, so Kueue does not start; remove one of '
                    "the two entries",
                    at,
                    edits=(Edit(Verb.REMOVE, at),),
                )


RULE = ObjectRule(
    "framework-unknown",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="List each integration once, with a name that your Kueue release supports.",
    judges=("Configuration",),
    check=check,
    fix=Fix.SAFE,
)
