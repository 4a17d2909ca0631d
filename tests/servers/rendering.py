"""A spec's text through policygen's app layer."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from textwrap import dedent
from typing import Any

import yaml

from policygen.app import render
from policygen.app.requests import parse_targets
from policygen.core.finding import Finding
from policygen.documents.files import Source
from policygen.plan.compile import compile_plan
from policygen.plan.pool import PoolFacts
from policygen.spec.load import load

from .client import Object


@dataclass(frozen=True)
class Rendered:
    """What `policygen render` printed of a spec, and the pools behind it."""

    spec: str
    text: str
    findings: tuple[Finding, ...]
    settings: render.RenderRequest = field(repr=False)

    @cached_property
    def objects(self) -> list[Object]:
        return list(yaml.load_all(self.text, Loader=yaml.CSafeLoader))

    @cached_property
    def pools(self) -> dict[str, PoolFacts]:
        """The spec's pools by name, for `Cluster.add_nodes`."""
        loaded = load([Source("spec.yaml", self.spec, None)], self.settings.target)
        return {facts.name: facts for facts in compile_plan(loaded.sound).pools}

    def of(self, kind: str) -> dict[str, Object]:
        """Objects of one kind by name."""
        return {o["metadata"]["name"]: o for o in self.objects if o["kind"] == kind}

    @property
    def scheduler_config(self) -> str:
        """The whole KubeSchedulerConfiguration for the main scheduler."""
        return render.raw_scheduler_config(self.settings, stdin=_stream(self.spec)).text

    @property
    def second_scheduler_config(self) -> str:
        """The file inside the ConfigMap of a second scheduler."""
        return self._data("config.yaml")

    @property
    def volcano_config(self) -> str:
        """The scheduler's file inside the ConfigMap of `--with volcano-config`."""
        return self._data("volcano-scheduler.conf")

    @property
    def kueue_config(self) -> str:
        """Kueue's Configuration as `--kueue-helm-values` wraps it."""
        text = render.kueue_helm_values(self.settings, stdin=_stream(self.spec)).text
        values = yaml.load(text, Loader=yaml.CSafeLoader)
        return str(values["managerConfig"]["controllerManagerConfigYaml"])

    def _data(self, key: str) -> str:
        found = [o["data"][key] for o in self.of("ConfigMap").values() if key in o["data"]]
        assert len(found) == 1, f"{len(found)} ConfigMaps with {key}; --with it?"
        return str(found[0])


def rendered(spec: str | Sequence[Any], *extras: str, **target: str) -> Rendered:
    """Render a spec: its text, or its documents as plain data.

    `extras` are names for `--with`, `target` versions as `--target` has them
    (`kueue="0.17"`). Raises SpecError or UsageError as `app.render` does.
    """
    text = dedent(spec) if isinstance(spec, str) else json_documents(spec)
    settings = render.RenderRequest(
        specs=("-",), target=parse_targets(target), extras=frozenset(extras), allow_empty=True
    )
    result = render.render(settings, stdin=_stream(text))
    return Rendered(text, "".join(m.text for m in result.manifests), result.findings, settings)


def json_documents(documents: Sequence[Any]) -> str:
    """Documents as YAML whose documents are JSON."""
    return "".join(f"---\n{json.dumps(document, ensure_ascii=False)}\n" for document in documents)


def _stream(text: str) -> io.BytesIO:
    return io.BytesIO(text.encode())
