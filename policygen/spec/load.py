"""Documents to the typed spec, with everything that is wrong with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from policygen import versions
from policygen.finding import At, Finding, Hit, Severity
from policygen.spec import articles, document, forms, parse, pools, references, schema
from policygen.spec.document import Document
from policygen.spec.files import Source
from policygen.spec.references import Named
from policygen.spec.types import (
    Model,
    Platform,
    Pool,
    Priority,
    SchedulingPolicy,
    Spec,
    Target,
    Team,
)
from policygen.spec.view import View

INNER = ("data", "scheduler-config.yaml")
"""Where the articles' ConfigMap keeps its queues."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The spec as far as it could be read, and all findings so far."""

    spec: Spec
    documents: tuple[Document, ...]
    findings: tuple[Finding, ...]
    foreign: int
    """Documents of other API groups, which are skipped."""

    @property
    def refused(self) -> bool:
        """Whether anything found forbids to go on."""
        return any(finding.severity == Severity.ERROR for finding in self.findings)


def load(sources: Sequence[Source], target: dict[str, str] | None = None) -> Loaded:
    """Read every document, check each by its schema, then all of them together.

    `target` overrides the Platform's target versions, by component.
    """
    reading = _Reading()
    for source in sources:
        reading.source(source)
    reading.queues()
    spec = reading.spec(target or {})
    reading.hits += references.check(spec, frozenset(reading.unread))
    reading.hits += pools.check(spec)
    findings = [*reading.findings, *document.dress(reading.documents, reading.hits)]
    return Loaded(
        spec=spec,
        documents=tuple(reading.documents),
        findings=tuple(document.ordered(findings)),
        foreign=reading.foreign,
    )


class _Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.findings: list[Finding] = []
        self.hits: list[Hit] = []
        self.unread: set[Named] = set()
        self.foreign = 0
        self.platforms: list[Platform] = []
        self.pools: list[Pool] = []
        self.teams: list[Team] = []
        self.models: list[Model] = []
        self.priorities: list[Priority] = []
        self.configs: list[Document] = []
        self.wider = SchedulingPolicy()

    def source(self, source: Source) -> None:
        found, findings = document.load(
            source, ours=forms.ours, first_index=len(self.documents)
        )
        self.findings += findings
        self.documents += found
        for each in found:
            if not forms.ours(each.header):
                self.foreign += 1
            elif each.data is None:
                self._unread(each)
            else:
                self._document(each)

    def _unread(self, each: Document) -> None:
        if each.header.kind and each.header.name:
            kind = "Model" if each.header.kind == "ModelServingSpec" else each.header.kind
            self.unread.add((kind, each.header.name))
        elif each.header.kind:
            self.unread.add((each.header.kind, ""))

    def _document(self, each: Document) -> None:
        form = forms.form_of(each.header, each.index)
        if isinstance(form, Hit):
            self.hits.append(form)
            self._unread(each)
            return
        faults = schema.check(form, each.data, each.index, raw=each.raw)
        if faults:
            self.hits += faults
            self._unread(each)
            return
        view = View(each.data, At(each.index), self.hits)
        if form is forms.PLATFORM:
            self._platform(parse.platform(view))
        elif form is forms.RESOURCE_POOL:
            self.pools.append(parse.pool(view))
        elif form is forms.ARTICLE_POOL:
            self.pools.append(articles.pool(view))
        elif form is forms.TEAM:
            self.teams.append(parse.team(view))
        elif form is forms.MODEL:
            self.models.append(parse.model(view))
        elif form is forms.ARTICLE_MODEL:
            self.models.append(articles.model(view))
        else:
            self.configs.append(each)

    def _platform(self, platform: Platform) -> None:
        if self.platforms and platform.at is not None:
            self.hits.append(
                Hit(
                    "duplicate-identity",
                    f'there is a Platform "{self.platforms[0].name}" already, and a set has one; '
                    "remove one of them",
                    platform.at / "metadata" / "name",
                )
            )
        self.platforms.append(platform)

    def queues(self) -> None:
        """The articles' ConfigMaps, once every pool that they share out is known."""
        for index, config in enumerate(self.configs):
            if index:
                self.hits.append(
                    Hit(
                        "duplicate-identity",
                        "there is a ConfigMap gpu-scheduler-config already; remove one of them",
                        At(config.index, ("metadata", "name")),
                    )
                )
                continue
            inner, findings = document.inner(config, INNER, index=len(self.documents))
            self.findings += findings
            if inner is None:
                continue
            self.documents.append(inner)
            data: dict[str, Any] | None = inner.data
            if data is None:
                continue
            faults = schema.check(forms.SCHEDULER_CONFIG, data, inner.index, raw=inner.raw)
            if faults:
                self.hits += faults
                self.unread.add(("ConfigMap", "gpu-scheduler-config"))
                continue
            ordered = tuple(sorted(self.pools, key=lambda pool: pool.name))
            teams, priorities, self.wider = articles.queues(
                View(data, At(inner.index), self.hits), ordered
            )
            self.teams += teams
            self.priorities += priorities

    def spec(self, target: dict[str, str]) -> Spec:
        """Everything read, sorted by name."""
        platform = self.platforms[0] if self.platforms else Platform()
        if self.priorities:
            platform = replace(platform, priorities=(*platform.priorities, *self.priorities))
        if self.wider != SchedulingPolicy():
            platform = replace(platform, scheduling_policy=self.wider)
        if target:
            platform = replace(platform, target=_override(platform.target, target))
        return Spec(
            platform=platform,
            pools=tuple(sorted(self.pools, key=lambda it: it.name)),
            teams=tuple(sorted(self.teams, key=lambda it: it.name)),
            models=tuple(sorted(self.models, key=lambda it: it.name)),
        )


def _override(target: Target, given: dict[str, str]) -> Target:
    return replace(
        target, **{component: versions.parse(component, text) for component, text in given.items()}
    )
