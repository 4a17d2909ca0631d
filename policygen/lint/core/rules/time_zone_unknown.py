"""A CronJob has a time zone that no time zone database has, and that resembles one."""

from policygen.core.quoting import quoted
from policygen.core.suggest import Names, is_near, is_typo
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, shared, written
from policygen.spec.rules import TIME_ZONE_UNKNOWN
from policygen.spec.time_zones import is_known, known_zones


def check(facts: Facts) -> Hits:
    """The server has its own database, so only names that resemble one of this machine are reported.

    invalid-value reports names without an area. Source: pkg/apis/batch/validation/validation.go, validateTimeZone.
    """
    for job in facts.cluster.workloads_of("batch"):
        zone = job.spec.get("timeZone")
        if not isinstance(zone, str) or "/" not in zone or is_known(zone):
            continue
        meant = Names(known_zones()).meant(zone)
        if meant and (is_typo(zone, meant) or is_near(zone, meant)):
            at = job.at.to("spec", "timeZone")
            yield Hit(
                RULE,
                f"{job} has time zone {quoted(zone)}, which does not exist, so the API server refuses it; "
                f"did you mean {quoted(meant)}?",
                at,
                meant=written(at, meant),
            )


RULE = ObjectRule(
    *shared(TIME_ZONE_UNKNOWN, Family.INVALID),
    judges=("CronJob",),
    check=check,
)
