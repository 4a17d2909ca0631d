"""A container mounts a volume that its pod does not have, or mounts two volumes at one path."""

from collections.abc import Iterator

from policygen.core.finding import at_path
from policygen.core.suggest import suggest
from policygen.kubernetes.untyped import mappings
from policygen.lint.core import pod_templates
from policygen.lint.core.pod_templates import Part, named
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A StatefulSet's volumeClaimTemplates are volumes too.

    Source: pkg/apis/core/validation/validation.go, ValidateVolumeMounts.
    """
    for spec in pod_templates.pod_specs(facts.cluster):
        mounting = [it for it in spec.containers if "volumeMounts" in it.data]
        volumes = set(_volumes(spec)) if mounting else set()
        for container in mounting:
            paths: set[str] = set()
            for mount in container.items("volumeMounts"):
                name, path = mount.data.get("name"), mount.data.get("mountPath")
                if isinstance(name, str) and None not in volumes and name not in volumes:
                    yield Hit(
                        RULE,
                        f'{named(container)} mounts "{name}", which is not a volume of its pod; '
                        f"{suggest(name, map(str, volumes), 'volume')}",
                        mount.at / "name",
                    )
                if not isinstance(path, str):
                    continue  # `wrong-type` reports it
                if path in paths:
                    yield Hit(
                        RULE,
                        f"{named(container)} mounts two volumes at {path}, which is refused; "
                        "write another mountPath",
                        mount.at / "mountPath",
                    )
                paths.add(path)


def _volumes(spec: Part) -> Iterator[str | None]:
    """Names of volumes; None for a name of a wrong type, which `wrong-type` reports."""
    volumes = spec.data.get("volumes")
    for volume in volumes if isinstance(volumes, list) else () if volumes is None else [volumes]:
        name = at_path(volume, ("name",))
        yield name if isinstance(name, str) else None
    if spec.owner.kind == "StatefulSet":
        for template in mappings(spec.owner.spec, "volumeClaimTemplates"):
            metadata = template.get("metadata")
            if isinstance(metadata, dict):
                yield str(metadata.get("name"))


RULE = ObjectRule(
    "volume-mount-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the name of a volume of the pod, and a different path for each mount.",
    judges=pod_templates.KINDS,
    check=check,
)
