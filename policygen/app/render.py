"""What `render`, `validate` and `schema` do, from inputs to results."""

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.app import kueue_file
from policygen.app.compile import Compiled, compiled, no_spec
from policygen.app.requests import RenderRequest
from policygen.core.errors import CheckFailed, SpecError, UsageError
from policygen.core.finding import At, Finding, Hit
from policygen.core.quoting import counted
from policygen.core.suggest import suggest
from policygen.documents import document, files
from policygen.documents.locate import locate
from policygen.plan import kubernetes, kueue_configuration, scheduler
from policygen.plan.admission.policies import any_rule
from policygen.plan.assignment import ModelPlacement
from policygen.plan.catalog import BY_NAME, KINDS
from policygen.plan.compile import Plan, objects, order, released, scheduler_file
from policygen.plan.decisions import Decisions
from policygen.plan.extras import (
    ADMISSION,
    DEVICE_PLUGIN,
    KUEUE_CONFIG,
    MIG_MANAGER,
    MONITORING,
    SECOND_SCHEDULER,
    VOLCANO_CONFIG,
    WORKLOADS,
)
from policygen.plan.kind import Item, Kind, Meta
from policygen.plan.monitoring import objects as monitoring
from policygen.plan.nvidia import device_plugin, mig_manager
from policygen.plan.pods import PodFields
from policygen.plan.rules import BAD_BASE_FILE, NO_CONFIGURATION, RENDERS_NOTHING
from policygen.render import destination
from policygen.render.manifest import Manifest
from policygen.spec import forms
from policygen.spec import schema as schemas
from policygen.spec.load import Loaded
from policygen.spec.types import Platform


class NoConfigurationError(UsageError):
    """Kueue's Configuration is requested, but the Platform names no base file."""


class Result(Struct, frozen=True):
    """The result: findings for stderr, and the rendered objects."""

    findings: tuple[Finding, ...]
    manifests: tuple[Manifest, ...] = ()
    text: str = ""
    """A single file that replaces the manifests."""
    counts: tuple[tuple[str, int], ...] = ()
    """The number of documents and objects, by kind."""
    pods: tuple[PodFields, ...] = ()
    """The fields that the pods of each model need."""
    models: tuple[ModelPlacement, ...] = ()
    """Where each model runs, and why."""
    clusters: tuple[str, ...] = ()
    """The names of the clusters of the Platform."""
    not_requested: frozenset[tuple[str, str]] = frozenset()
    """What `files_not_requested` returns."""


def validate(
    request: RenderRequest, *, stdin: BinaryIO | None = None, output: os.stat_result | None = None
) -> Result:
    """Check a spec as `render` does. Raises SpecError if it is invalid or missing."""
    made = compiled(request, stdin=stdin, output=output)
    spec, plan = made.loaded.spec, made.plan
    if not made.loaded.own:
        raise SpecError(no_spec(request.specs, made.loaded))
    findings = list(made.findings)
    if not plan.items:
        message = "the spec renders no object; write pools and teams, or use `render --allow-empty`"
        findings.append(Finding(RENDERS_NOTHING, message))
    return Result(
        findings=tuple(findings),
        counts=(
            ("pool", len(spec.pools)),
            ("team", len(spec.teams)),
            ("model", len(spec.models)),
            ("object", len(plan.items) + len(plan.files)),
        ),
        pods=plan.pods,
        models=plan.workloads.placements,
        clusters=tuple(it.name for it in spec.platform.clusters),
    )


def render(
    request: RenderRequest, *, stdin: BinaryIO | None = None, output: os.stat_result | None = None
) -> Result:
    """Render all objects of the set. Raises SpecError or UsageError; then nothing is rendered."""
    made = compiled(request, stdin=stdin, output=output)
    if not made.loaded.own and not request.allow_empty:
        raise SpecError(no_spec(request.specs, made.loaded))
    manifests = rendered(request, made.loaded, made.plan)
    if not manifests and not request.allow_empty:
        raise UsageError(
            "the spec renders no object; write pools and teams, or use --allow-empty"
            if not request.only
            else (
                f"the spec renders no {' or '.join(request.only)}; use --allow-empty to accept an "
                "empty output"
            )
        )
    others = frozenset(_config_maps_not_requested(made.decisions, request.extras))
    result = replace(_result(made, manifests=manifests), not_requested=others)
    # The rendered workloads have the fields that their pods need.
    return replace(result, pods=()) if WORKLOADS in request.extras else result


def rendered(request: RenderRequest, loaded: Loaded, plan: Plan) -> tuple[Manifest, ...]:
    """The objects of a plan, and the selected configuration files of controllers.

    Raises UsageError if a template, or the base of a configuration file, is invalid.
    """
    from policygen.render import engine

    items = _selected([*plan.items, *_configured(request, loaded, plan)], request.only)
    target = loaded.spec.platform.target
    return tuple(engine.render(items, templates=request.templates, target=target))


def _config_maps_not_requested(
    decided: Decisions, extras: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Namespace and name of all ConfigMaps that `extras` does not request."""
    yield from files_not_requested(decided.spec.platform, extras).values()
    of_extras = [it for it in KINDS if it.name == "ConfigMap" and it.extra not in {"", *extras}]
    for item in objects(decided, of_extras):
        yield item.meta.namespace or "", item.meta.name


def files_not_requested(platform: Platform, extras: Collection[str]) -> dict[str, tuple[str, str]]:
    """By option, namespace and name of the ConfigMaps with files of controllers that `extras` lacks."""
    names = {
        VOLCANO_CONFIG: (platform.volcano.namespace, platform.volcano.config_map),
        KUEUE_CONFIG: (platform.kueue.namespace, kueue_configuration.CONFIG_MAP),
    }
    metas = {
        DEVICE_PLUGIN: device_plugin.meta(platform),
        MIG_MANAGER: mig_manager.meta(platform),
        MONITORING: monitoring.meta(platform),
    }
    names |= {extra: (it.namespace or "", it.name) for extra, it in metas.items()}
    return {extra: it for extra, it in names.items() if extra not in extras}


def raw_scheduler_config(
    request: RenderRequest, *, stdin: BinaryIO | None = None, output: os.stat_result | None = None
) -> Result:
    """Only the KubeSchedulerConfiguration, for `--config` of the main scheduler.

    Raises SpecError, and UsageError if no pool needs one.
    """
    from policygen.render import engine

    made = compiled(request, stdin=stdin, output=output)
    item = scheduler_file(made.loaded.spec, made.plan.pools, raw=True)
    if item is None:
        raise UsageError(
            "no pool that uses kube-scheduler sets binPack or spread, so there is nothing to print; "
            "set binPack or spread in a pool"
        )
    text = engine.render([item], templates=request.templates)[0].text
    return _result(made, text=text)


def kueue_helm_values(
    request: RenderRequest, *, stdin: BinaryIO | None = None, output: os.stat_result | None = None
) -> Result:
    """Values for Kueue's Helm chart, which contain the Configuration as one text.

    Raises SpecError, and UsageError if there is nothing to configure.
    """
    from policygen.render import scalar

    request = request._replace(extras=request.extras | {KUEUE_CONFIG})
    made = compiled(request, stdin=stdin, output=output)
    text = _kueue_text(request, made.loaded, made.plan)
    if text is None:
        raise UsageError(
            "no pool is scheduled by Kueue, so there is no Configuration to print; omit "
            "--kueue-helm-values"
        )
    values = {"managerConfig": {"controllerManagerConfigYaml": text}}
    return _result(
        made,
        # Plain text, since Markup would escape the text that is added to it.
        text="---\n" + str(scalar.block(values, 0)).lstrip("\n") + "\n",
    )


def _result(made: Compiled, manifests: tuple[Manifest, ...] = (), text: str = "") -> Result:
    names = tuple(it.name for it in made.loaded.spec.platform.clusters)
    return Result(made.findings, manifests, text, pods=made.plan.pods, clusters=names)


def text(result: Result) -> str:
    """All manifests as one text, or the single file that replaces them."""
    from policygen.render import output as writing

    return result.text or writing.text(result.manifests)


def write(result: Result, path: Path, *, kustomization: bool = False) -> str:
    """Write the manifests to a file or folder. Returns a message. Raises UsageError.

    With `kustomization`, the folder also has a kustomization.yaml that lists its files.
    """
    from policygen.render import output as writing

    if destination.is_file(path):
        writing.write_file(result.manifests, path)
        return f"{path}: {counted(len(result.manifests), 'object')}"
    changes = writing.write_folder(result.manifests, path, kustomization=kustomization)
    return (
        f"{path}: {changes.written} written, {changes.unchanged} unchanged, "
        f"{changes.removed} removed"
    )


def compare(result: Result, path: Path, *, kustomization: bool = False) -> None:
    """Raise CheckFailed with a diff if writing to the file or folder would change it."""
    from policygen.render import output as writing

    if difference := writing.check(result.manifests, path, kustomization=kustomization):
        raise CheckFailed(difference)


def schema(kind: str | None) -> str:
    """The JSON Schema of a kind, or the names of all kinds. Raises UsageError for an unknown name."""
    names = forms.schema_names()
    if kind is None:
        return "".join(f"{name}\n" for name in names)
    folded = {name.lower(): name for name in names}
    name = folded.get(kind.lower())
    if name is None:
        raise UsageError(f'schema "{kind}" does not exist; {suggest(kind, names)}')
    return schemas.source(names[name])


def _configured(request: RenderRequest, loaded: Loaded, plan: Plan) -> list[Item]:
    """ConfigMaps around files that were rendered from their own templates first."""
    platform = loaded.spec.platform
    made = [*_file_maps(request, plan)]
    if KUEUE_CONFIG in request.extras and any(facts.scheduler == "kueue" for facts in plan.pools):
        if platform.kueue.configuration is None:
            raise NoConfigurationError(
                f"--with {KUEUE_CONFIG} needs the current Configuration of your Kueue, to keep "
                "the other settings; name the file in the Platform as spec.kueue.configuration, "
                "or use --kueue-helm-values"
            )
        config = _kueue_text(request, loaded, plan)
        if config is not None:
            meta = Meta(kueue_configuration.CONFIG_MAP, platform.name, platform.kueue.namespace)
            data = {kueue_configuration.CONFIG_KEY: config}
            made.append((BY_NAME["ConfigMap"], kubernetes.ConfigMap(meta, data)))
    if ADMISSION in request.extras and not any_rule(platform.admission):
        raise UsageError(
            f"--with {ADMISSION} renders no rule, because spec.admission of the Platform turns off "
            f"all rules; write deny, warn or audit for a rule, or omit --with {ADMISSION}"
        )
    if (
        SECOND_SCHEDULER in request.extras
        and plan.file(scheduler.CONFIGURATION) is not None
        and platform.kube_scheduler.image is None
    ):
        raise UsageError(
            f"--with {SECOND_SCHEDULER} needs the image of the scheduler; write the image in the "
            "Platform as spec.kubeScheduler.image, for example your mirror of kube-scheduler "
            f"v{platform.target.kubernetes}"
        )
    return [released(loaded.spec, kind, it) for kind, it in made]


def _file_maps(request: RenderRequest, plan: Plan) -> Iterator[tuple[Kind, kubernetes.ConfigMap]]:
    """A ConfigMap for all files that have the same one, with the kind of its family."""
    kinds = {it.extra: it for it in KINDS if it.name == "ConfigMap"}
    for meta, group in groupby(plan.files, key=lambda it: it.item.meta):
        found = list(group)
        data = {it.key: _file(it.item, request) for it in found}
        yield kinds[found[0].extra], kubernetes.ConfigMap(meta, data)


def _file(item: Item, request: RenderRequest) -> str:
    """The text of a controller's file, without the document marker."""
    from policygen.render import engine

    return engine.render([item], templates=request.templates)[0].text.removeprefix("---\n")


def _kueue_text(request: RenderRequest, loaded: Loaded, plan: Plan) -> str | None:
    """Kueue's Configuration, merged over the base file that the Platform names."""
    decided = Decisions(loaded.spec, plan.pools, plan.trees, plan.workloads)
    item = kueue_file.item(decided, kueue_base(loaded))
    return None if item is None else _file(item, request)


def kueue_base(loaded: Loaded) -> dict[str, Any] | None:
    """The base file that the Platform names; None: it names none.

    It contains a Configuration, or the ConfigMap that holds one. Beside a spec of a git revision, it is
    read from this revision. Raises SpecError.
    """
    platform = loaded.spec.platform
    at = platform.kueue.at
    if platform.kueue.configuration is None:
        return None
    name = Path(platform.kueue.configuration)
    if at is not None:
        source = loaded.documents[at.document].source
        name = files.beside(source, platform.kueue.configuration)
    sources, faults = files.read_path(name)
    for source in sources:
        documents, more = document.load(source)
        faults += document.with_faults(documents, more)
        for base in documents:
            if base.header.kind == "ConfigMap":
                path_in = ("data", kueue_configuration.CONFIG_KEY)
                inner, more = document.inner(base, path_in, index=len(documents))
                faults += more
                base = inner or base  # noqa: PLW2901 - what counts is inside
            if base.header.kind == kueue_configuration.CONFIGURATION.name and base.data:
                wrong = [
                    Hit(BAD_BASE_FILE, message, At(base.index, path))
                    for path, message in kueue_configuration.faults(base.data)
                ]
                faults += locate([base], wrong)
                if not faults:
                    fields: dict[str, Any] = base.data
                    return fields
    if faults:
        raise SpecError(faults)
    hit = Hit(
        NO_CONFIGURATION,
        f"{name} contains no Configuration of API group config.kueue.x-k8s.io; write a "
        "Configuration as a document, or in a ConfigMap under the key "
        f"{kueue_configuration.CONFIG_KEY}",
        at,
    )
    raise SpecError(locate(loaded.documents, [hit]))


def _selected(items: Sequence[Item], only: Sequence[str]) -> list[Item]:
    """The items of the selected kinds, in apply order."""
    kinds = {kind.name.lower(): kind.name for kind in KINDS}
    for name in only:
        if name.lower() not in kinds:
            raise UsageError(f'--only: kind "{name}" is unknown; {suggest(name, kinds.values())}')
    selected = {name.lower() for name in only}
    return list(order(item for item in items if not selected or item.kind.name.lower() in selected))
