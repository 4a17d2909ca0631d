"""Loads the typed spec from its documents, with all findings about them."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import At, Finding, Hit, at_path
from policygen.core.rule import Severity
from policygen.core.versions import Version
from policygen.documents.document import Document, with_faults
from policygen.documents.document import inner as inner_document
from policygen.documents.document import load as load_documents
from policygen.documents.files import Source
from policygen.documents.locate import locate, ordered
from policygen.spec import (
    certain_part,
    clusters,
    doubled_names,
    forms,
    labels,
    legacy_forms,
    models,
    numbers,
    parse,
    pools,
    references,
    schema,
    time_zones,
)
from policygen.spec.fields import View
from policygen.spec.identities import Identities
from policygen.spec.programs import LintSettings, Waiver
from policygen.spec.pruned import pruned
from policygen.spec.rules import QUEUES_WITHOUT_POOLS, UNKNOWN_REFERENCE, WRONG_LENGTH
from policygen.spec.types import Model, Platform, Pool, Spec, Team
from policygen.spec.unread import Unread

_KIND = {**{form.kind: form.kind for form in forms.FORMS}, forms.ARTICLE_MODEL.kind: "Model"}
"""The kind that a document defines, by its own kind: both forms of a Model share their names."""

_PARSERS: Mapping[forms.DocumentForm, Callable[[View], Platform | Pool | Team | Model]] = {
    forms.PLATFORM: parse.platform,
    forms.RESOURCE_POOL: parse.pool,
    forms.TEAM: parse.team,
    forms.MODEL: parse.model,
    forms.ARTICLE_POOL: legacy_forms.pool,
    forms.ARTICLE_MODEL: legacy_forms.model,
}


class Loaded(Struct, frozen=True):
    """The readable part of the spec, and all findings so far."""

    spec: Spec
    documents: tuple[Document, ...]
    findings: tuple[Finding, ...]
    own: int
    """Documents of the spec."""
    foreign: int
    """Documents of other API groups, which are skipped."""
    sound: Spec
    """The part that is checked further if the spec is refused; without errors, the complete spec.

    An error in this part is certain, whatever the refused parts contain.
    """
    lints: tuple[LintSettings, ...]
    """The spec's settings for rules; of a refused Platform, the readable part."""

    @property
    def refused(self) -> bool:
        """Whether a finding is an error."""
        return any(finding.severity == Severity.ERROR for finding in self.findings)


def load(
    sources: Sequence[Source],
    target: Mapping[str, Version] | None = None,
    *,
    complete: bool = True,
    among: Sequence[Source] = (),
    cluster: str | None = None,
) -> Loaded:
    """Read every document, check each by its schema, then all of them together.

    `target` overrides the Platform's target versions, by component. `complete` is false if files
    could not be read, so that a missing name may exist in them. With the name of a `cluster` of the
    Platform, the spec has its versions, sizes and quotas. The sources of `among` are manifests
    that may contain documents of a spec: only documents that certainly are part of one are read,
    without findings about the others.
    """
    reading = _SpecReading()
    if not complete:
        reading.unread.everything()
    for source in sources:
        reading.source(source)
    for source in among:
        reading.source(source, among=True)
    reading.queues()
    spec = reading.spec()
    dangling = list(references.check(spec, reading.unread, reading.remnants))
    faulty = reading.faulty() | {
        hit.at.document
        for hit in dangling
        if hit.at and (hit.rule == UNKNOWN_REFERENCE or "sharedQueues" in hit.at.path)
    }
    reading.hits = doubled_names.joined(reading.hits, dangling, reading.documents)
    reading.hits += pools.check(spec)
    reading.hits += reading.time_zones()
    findings = ordered([*reading.findings, *locate(reading.documents, reading.hits)])
    refused = any(finding.severity == Severity.ERROR for finding in findings)
    variant = next((it for it in spec.platform.clusters if it.name == cluster), None)
    if variant is not None:
        spec = clusters.of_cluster(spec, variant)
    if target:
        platform = spec.platform
        spec = replace(spec, platform=replace(platform, target=replace(platform.target, **target)))
    return Loaded(
        spec=spec,
        documents=tuple(reading.documents),
        findings=tuple(findings),
        own=reading.own,
        foreign=reading.foreign,
        lints=(
            spec.platform.lint,
            *(it.lint for it in reading.remnants if isinstance(it, Platform)),
        ),
        sound=certain_part.part(spec, faulty, reading.unread) if refused else spec,
    )


class _SpecReading:
    """The parts of the spec that were read so far."""

    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.findings: list[Finding] = []
        self.hits: list[Hit] = []
        self.unread = Unread()
        self.own = self.foreign = 0
        self.identities = Identities()
        self.platform = Platform()
        self.pools: list[Pool] = []
        self.teams: list[Team] = []
        self.models: list[Model] = []
        self.remnants: list[Platform | Team | Model] = []
        """Readable parts of refused documents, whose references are checked too."""
        self.config: Document | None = None

    def source(self, source: Source, *, among: bool = False) -> None:
        """Read the documents of a file; with `among`, only those that certainly are part of a spec."""
        ours = forms.certainly_ours if among else forms.ours
        found, findings = load_documents(source, first_index=len(self.documents))
        own = {
            document.index: document
            for document in found
            if ours(document.header) and not forms.is_ordinary(document, among=among)
        }
        findings = with_faults(own.values(), findings)
        self.findings += findings
        self.documents += found
        self.unread.lost(findings, source.text)
        for document in found:
            if document.index in own:
                self._document(document)
                continue
            document.data = None
            if not among:
                self.foreign += 1
                self.hits += legacy_forms.overlooked(document)

    def _document(self, document: Document) -> None:
        self.own += 1
        form = forms.form_of(document.header, document.index)
        kind = _KIND.get(document.header.kind or "")
        name = "" if kind == forms.PLATFORM.kind else document.header.name
        first = True
        if kind is not None and name is not None:
            first = self._claim(kind, name, document, At(document.index, ("metadata", "name")))
        if isinstance(form, Hit) or document.data is None:
            faults = [form] if isinstance(form, Hit) else []
            self.hits += faults
            self._unread(kind, document, faults)
            return
        self.hits += numbers.to_text(form, document.data, document.index)
        faults = schema.check(form, document.data, document.index, document.raw)
        self._advise(document, form)
        self.hits += faults
        good = first and not faults
        if not good or document.flawed:
            self._unread(kind, document, faults)
        if good:
            self._typed(document, form)
        else:
            self._remnant(document, form, faults)

    def _advise(self, document: Document, form: forms.DocumentForm) -> None:
        """Add the values that the fields of the form allow to earlier findings."""
        if document.flawed:
            from policygen.spec import ambiguous_scalars  # noqa: PLC0415 - jsonschema-rs takes 30 ms

            self.findings = ambiguous_scalars.advised(
                self.findings, document, schema.read(form.schema)
            )

    def _unread(self, kind: str | None, document: Document, faults: list[Hit]) -> None:
        if document.data is None:
            self.unread.text(document.source.text)
        refused = {fault.at.path for fault in faults if fault.at}
        self.unread.parts.add(document.index)
        self.unread.document(
            kind, document.data, lambda path: path in refused or document.is_flawed(path)
        )

    def _claim(self, kind: str, name: str, document: Document, at: At) -> bool:
        """Whether this kind and name is new; a second one is reported and skipped."""
        taken = self.identities.claim(kind, name, document, at)
        if taken is not None:
            self.hits.append(taken)
        return taken is None

    def _typed(self, document: Document, form: forms.DocumentForm) -> None:
        if form is forms.ARTICLE_QUEUES:
            self.config = document
            return
        match _PARSERS[form](View(document.data, At(document.index), self.hits)):
            case Platform() as platform:
                self.platform = platform
                self.hits += labels.check_rules(platform.monitoring)
            case Team() as team:
                self.teams.append(team)
            case Model() as model:
                self.models.append(model)
                self.hits += models.check(model)
            case Pool() as pool:
                self.pools.append(pool)
                self.hits += labels.check(pool)
                self.hits += pools.faults(pool)

    def _remnant(self, document: Document, form: forms.DocumentForm, faults: list[Hit]) -> None:
        """Check the valid values of a refused document."""
        data = pruned(form, document.data, faults) if form is not forms.ARTICLE_QUEUES else None
        if data is None:
            return
        gone = [fault.at.path for fault in faults if fault.at]
        spec = data.get("spec", {})
        if any(path[:-1] == ("spec",) for path in gone) and "schedule" in spec:
            # Perhaps its workload is removed or misspelled, so it does not count as serving.
            spec.setdefault("workload", "batch")
        hits: list[Hit] = []
        left = _PARSERS[form](View(data, At(document.index), hits))
        if isinstance(left, Pool):
            hits += labels.check(left)
        else:
            if isinstance(left, Model):
                hits += models.reversed_bounds(left)
            if isinstance(left, Platform):
                left = replace(left, lint=replace(left.lint, waivers=_waivers(document)))
            self.remnants.append(left)
        # Hits about a mapping whose invalid part was removed are skipped.
        self.hits += [
            hit
            for hit in hits
            if hit.at and not any(path[: len(hit.at.path)] == hit.at.path for path in gone)
        ]

    def queues(self) -> None:
        """Read the articles' ConfigMap, after all pools that its queues share."""
        config = self.config
        if config is None:
            return
        inner, findings = inner_document(config, forms.QUEUES_AT, index=len(self.documents))
        self.findings += findings
        self.unread.lost(findings, str(config.data[forms.QUEUES_AT[0]][forms.QUEUES_AT[1]]))
        if inner is None or inner.data is None:
            if not findings:
                message = "scheduler-config.yaml is empty; write queues: and a list of queues"
                self.hits.append(Hit(WRONG_LENGTH, message, At(config.index, forms.QUEUES_AT)))
            return
        self.documents.append(inner)
        faults = schema.check(forms.SCHEDULER_CONFIG, inner.data, inner.index, inner.raw)
        self.hits += faults
        self._advise(inner, forms.SCHEDULER_CONFIG)
        if faults or inner.flawed:
            self._unread(forms.ARTICLE_QUEUES.kind, inner, faults)
        if faults:
            return
        view = View(inner.data, At(inner.index), self.hits)
        teams, priorities = legacy_forms.queues(view, sorted(self.pools, key=lambda it: it.name))
        self.teams += [
            team
            for team in teams
            if self._claim(forms.TEAM.kind, team.name, inner, team.at / "name")
        ]
        self.platform, hits = legacy_forms.merged(self.platform, priorities)
        self.hits += hits
        policy = parse.scheduling_policy(view.view("schedulingPolicy"))
        self.platform = replace(
            self.platform, scheduling_policy=policy.over(self.platform.scheduling_policy)
        )
        if teams and not self.pools and not self.unread.may_define(forms.RESOURCE_POOL.kind, ""):
            message = "the queues of gpu-scheduler-config have no GPUs, because the spec has no pool; add a ResourcePool"
            at = At(inner.index, ("queues",), key=True)
            self.hits.append(Hit(QUEUES_WITHOUT_POOLS, message, at))

    def time_zones(self) -> Iterator[Hit]:
        """Findings about time zones, also in the readable parts of refused documents."""
        known = (self.platform, *self.models, *self.remnants)
        platforms = (it for it in known if isinstance(it, Platform))
        return time_zones.reports(platforms, (it for it in known if isinstance(it, Model)))

    def spec(self) -> Spec:
        """The spec, sorted by name."""
        platform = self.platform
        classed, hits = legacy_forms.classes(self.models, self.teams, platform, self.unread)
        self.hits += hits
        return Spec(
            platform=platform,
            pools=tuple(sorted(self.pools, key=lambda it: it.name)),
            teams=tuple(sorted(self.teams, key=lambda it: it.name)),
            models=tuple(sorted(classed, key=lambda it: it.name)),
        )

    def faulty(self) -> frozenset[int]:
        """The documents with a value that could not be read."""
        errors = (hit for hit in self.hits if hit.rule.severity == Severity.ERROR)
        flawed = (each.index for each in self.documents if each.flawed)
        return frozenset([*flawed, *(hit.at.document for hit in errors if hit.at)])


def _waivers(document: Document) -> tuple[Waiver, ...]:
    """The waivers of a refused Platform that name a rule, so that unknown names are reported too."""
    path = ("spec", "lint", "waivers")
    entries = at_path(document.data, path)
    return tuple(
        Waiver(entry["rule"], "", At(document.index, (*path, index)))
        for index, entry in enumerate(entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("rule"), str)
    )
