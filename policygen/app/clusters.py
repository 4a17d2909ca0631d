"""What `render` and `validate` do with a Platform that has several clusters: each of them, one after the other."""

import os
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

from msgspec.structs import replace

from policygen.app import render
from policygen.app.compile import compiled
from policygen.app.render import Result
from policygen.app.requests import RenderRequest
from policygen.core.errors import CheckFailed, SpecError, UsageError
from policygen.core.finding import Finding
from policygen.core.quoting import listed
from policygen.render import folder as folders


class SeveralClustersError(UsageError):
    """The objects of one cluster are needed, and the spec has several."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"the Platform has the clusters {listed([*names], 'and')}; choose one with --cluster NAME, or "
            "write a folder for each with -o DIR"
        )


def rendered(
    request: RenderRequest,
    names: Sequence[str],
    given: bytes | None,
    redirected: os.stat_result | None,
) -> dict[str, Result]:
    """What each cluster gets. A finding about all of them is part of the first result only.

    `given` is standard input. Raises SpecError and UsageError.
    """
    found: dict[str, Result] = {}
    for name in names:
        try:
            found[name] = render.render(
                request._replace(cluster=name), stdin=_stream(given), output=redirected
            )
        except SpecError as error:
            raise SpecError(_named(name, error.findings), unplanned=error.unplanned) from None
    everywhere = set[tuple[str, str]].intersection(
        *(set(map(_key, it.findings)) for it in found.values())
    )
    first = next(iter(names), "")
    return {
        name: replace(
            result,
            findings=tuple(
                finding if _key(finding) in everywhere else _named(name, [finding])[0]
                for finding in result.findings
                if name == first or _key(finding) not in everywhere
            ),
            pods=result.pods if name == first else (),
        )
        for name, result in found.items()
    }


def with_clusters(request: RenderRequest, result: Result, given: bytes | None) -> Result:
    """The result of `validate`, with findings about clusters that the spec itself does not have.

    Raises SpecError with the errors about one of them.
    """
    if request.cluster is not None:
        return result
    findings = list(result.findings)
    known = set(map(_key, findings))
    for name in result.clusters:
        try:
            made = compiled(request._replace(cluster=name), stdin=_stream(given))
        except SpecError as error:
            raise SpecError(_named(name, error.findings), unplanned=error.unplanned) from None
        new = [it for it in made.findings if _key(it) not in known]
        known.update(map(_key, new))
        findings += _named(name, new)
    return replace(result, findings=tuple(findings))


def write(results: Mapping[str, Result], folder: Path, *, kustomization: bool) -> list[str]:
    """Write a folder for each cluster. Returns messages. Raises UsageError."""
    written = [
        render.write(it, folder / name, kustomization=kustomization) for name, it in results.items()
    ]
    return [*written, *_left(results, folder)]


def compare(results: Mapping[str, Result], folder: Path, *, kustomization: bool) -> None:
    """Raise CheckFailed with a diff if writing would change a file, or if a folder is left over."""
    parts = []
    for name, result in results.items():
        try:
            render.compare(result, folder / name, kustomization=kustomization)
        except CheckFailed as failed:
            parts.append(f"cluster {name}\n{failed}")
    parts += [f"{it}\n" for it in _left(results, folder)]
    if parts:
        raise CheckFailed("".join(parts))


def _left(results: Mapping[str, Result], folder: Path) -> list[str]:
    """Messages about folders of clusters that the Platform does not have any more."""
    if not folder.is_dir():
        return []
    return [
        f"{it.parent}: no cluster of the Platform has this name; delete the folder"
        for it in sorted(folder.glob(f"*/{folders.INDEX}"))
        if it.parent.name not in results
    ]


def _stream(given: bytes | None) -> BytesIO | None:
    return None if given is None else BytesIO(given)


def _key(finding: Finding) -> tuple[str, str]:
    return finding.rule.name, finding.message


def _named(name: str, findings: Sequence[Finding]) -> list[Finding]:
    return [it._replace(message=f"cluster {name}: {it.message}") for it in findings]
