"""A volume of a Volcano Job has no claim, two claims, or a path that is already used."""

from policygen.api_validation.metadata import is_subdomain
from policygen.core.quoting import quoted
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs


def check(facts: Facts) -> Hits:
    """Source: pkg/webhooks/admission/jobs/validate/util.go, validateIO."""
    for spec in jobs.specs(facts.cluster):
        paths: set[str] = set()
        for volume in spec.items("volumes"):
            path = volume.data.get("mountPath")
            made, named = volume.data.get("volumeClaim"), volume.data.get("volumeClaimName")
            if bool(named) == (made is not None):
                message = f"the volume at {path} of {spec.owner} has neither volumeClaim nor volumeClaimName, which Volcano refuses; write one of them"
                if named:
                    message = f"the volume at {path} of {spec.owner} has both volumeClaim and volumeClaimName, which Volcano refuses; remove one of them"
                yield Hit(RULE, message, volume.at)
            if isinstance(named, str) and named and not is_subdomain(named):
                yield Hit(
                    RULE,
                    f"a volume of {spec.owner} has volumeClaimName {quoted(named)}, which is not "
                    'a valid name; write lower-case letters, digits, "-" and "."',
                    volume.at / "volumeClaimName",
                )
            if not isinstance(path, str):
                continue  # its wrong type is already reported
            if path in paths:
                yield Hit(
                    RULE,
                    f"{spec.owner} mounts two volumes at {path}, which Volcano refuses; write "
                    "another mountPath",
                    volume.at / "mountPath",
                )
            paths.add(path)


RULE = ObjectRule(
    "job-volume-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write volumeClaim or volumeClaimName, and a different mountPath for each volume.",
    judges=("Job",),
    check=check,
)
