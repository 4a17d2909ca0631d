"""Parses the rendered objects for the comparison with clusters, and writes the folder of patches."""

from collections.abc import Collection, Iterator
from itertools import count
from pathlib import Path

from policygen.app import render
from policygen.app.compile import Compiled
from policygen.app.requests import RenderRequest
from policygen.core.errors import UsageError
from policygen.core.finding import At, dotted
from policygen.core.finding import Path as Field
from policygen.documents.parse import mapping
from policygen.drift import patches, scripts
from policygen.drift.drift import Drift, Rendered, RenderedObject
from policygen.drift.rule_names import MISSING
from policygen.kubernetes.object import Object
from policygen.kubernetes.renames import written
from policygen.plan.catalog import KINDS
from policygen.plan.compile import objects
from policygen.plan.decisions import Decisions
from policygen.plan.extras import OF_MODELS, WORKLOADS
from policygen.plan.model_names import MODEL
from policygen.plan.origin import Origins
from policygen.report.report import Report

DOCUMENT = -1
"""The document index of rendered objects, which have no lines."""


def rendered(compiled: Compiled, request: RenderRequest) -> Rendered:
    """Every object of the set, to compare clusters with. Raises UsageError as `render.rendered` does."""
    loaded, plan = compiled.loaded, compiled.plan
    expected = []
    for index, manifest in enumerate(render.rendered(request, loaded, plan)):
        # Parsed as kubectl does, since a user's template may have printed it.
        data = mapping(manifest.text)
        parsed = Object.read(data, At(DOCUMENT, ("objects", index))) if data else None
        if parsed is not None:
            expected.append(RenderedObject(manifest.item, parsed, manifest.text))
    origins = Origins(loaded.spec, plan.pools, plan.trees)
    decided = compiled.decisions
    not_requested = dict(_not_requested(decided, request.extras))
    extras = {kind.name: kind.extra for kind in KINDS if kind.extra in OF_MODELS}

    def missing_option(found: Object) -> str:
        # The object of a model can have any form: `policygen workload --as` can print another one.
        needed = extras.get(found.kind, WORKLOADS)
        if MODEL in found.labels and needed not in request.extras:
            return needed
        return not_requested.get((found.kind, found.namespace, found.name), "")

    return Rendered(decided.platform.name, expected, origins.of, mapping, missing_option)


def _not_requested(
    decided: Decisions, extras: frozenset[str]
) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Kind, namespace and name of objects that need an option that was not set, and the option."""
    platform = decided.platform
    kinds = [kind for kind in KINDS if kind.extra and kind.extra not in extras]
    for item in objects(decided, kinds):
        yield (item.kind.name, item.meta.namespace or "", item.meta.name), item.kind.extra
    for extra, (namespace, name) in render.files_not_requested(platform, extras).items():
        yield ("ConfigMap", namespace, name), extra


def write_patches(report: Report, folder: Path, kubeconfig: Path | None = None) -> str:
    """Write patches for the findings of a report into a new folder. Returns a message.

    Each cluster with drift has its own folder. Raises UsageError.
    """
    made: dict[str, str] = {}
    commands = []
    used: set[str] = set()
    # The scripts change to their own folder.
    contexts = str(kubeconfig.absolute()) if kubeconfig else ""
    for drift in report.drifts:
        steps = patches.steps(drift, _waiver_filter(report, drift))
        if steps:
            name = _folder(drift.context, used)
            used.add(name)
            inside = scripts.files(
                steps, drift.context, patches.kubectl(drift.kubectl_context, contexts)
            )
            made |= {f"{name}/{path}": text for path, text in inside.items()}
            commands += [f"{folder / name / it}" for it in inside if it.endswith(".sh")]
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"--patches {folder} already exists; name a new folder")
        for path, text in made.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"--patches {folder} cannot be written: {error.strerror}") from None
    return f"run {', then '.join(commands)}" if commands else _unwritten(report)


def _unwritten(report: Report) -> str:
    if not report.compared:
        return "no cluster was compared with the spec, so no patch is written"
    if any(it.rule.name == MISSING and not it.object for it in report.findings):
        return "the API server does not know the kinds of missing objects, so no patch is written"
    accepted = any(patches.steps(it, lambda *_: True) for it in report.drifts)
    return (
        "all drift is waived or in the baseline, so no patch is written"
        if accepted
        else "the clusters have no drift to fix, so no patch is written"
    )


def _folder(context: str, used: Collection[str]) -> str:
    """A unique folder name for a cluster; safe names of two clusters can be equal."""
    name = scripts.safe(context)
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(it for it in names if it not in used)


def _waiver_filter(report: Report, drift: Drift) -> patches.Keep:
    """Whether a shown finding reports the difference; waived differences stay."""
    shown = {
        (finding.rule.name, finding.object, finding.path)
        for finding in report.findings
        if finding.cluster == drift.context
    }

    def keep(rule: str, changed: Object, path: Field) -> bool:
        return (rule, str(changed), dotted(written(changed, path))) in shown

    return keep
