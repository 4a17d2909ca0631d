"""Compares the releases of the clusters of one run."""

from collections.abc import Iterator, Mapping

from policygen.core.finding import Finding
from policygen.core.versions import Version, written
from policygen.lint.run_rules import VERSIONS_DIFFER


def skew(clusters: Mapping[str, Mapping[str, Version]]) -> Iterator[Finding]:
    """Findings for components whose release differs from that on most clusters.

    A spec is rendered for one target, so the result may be wrong on clusters with another release.
    Patch versions are not compared.
    """
    components = sorted({component for found in clusters.values() for component in found})
    for component in components:
        by_release: dict[tuple[int, int], list[str]] = {}
        for name, found in clusters.items():
            if component in found:
                by_release.setdefault(found[component].release, []).append(name)
        usual, *others = sorted(by_release, key=lambda it: (-len(by_release[it]), it))
        for release in others:
            for name in by_release[release]:
                yield Finding(
                    VERSIONS_DIFFER,
                    f"{component} is {written(release)} on {name}, but {written(usual)} on "
                    f"{', '.join(by_release[usual])}; upgrade the older clusters, or render a separate spec for each release",
                    cluster=name,
                )
