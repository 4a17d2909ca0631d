"""The forms of documents of a spec, and the selection of a form by the header of a document."""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import cache

from msgspec import Struct

from policygen.core.finding import At, Hit
from policygen.core.quoting import listed, quoted
from policygen.core.suggest import suggest
from policygen.documents.document import Document, Header
from policygen.spec.rules import MISSING_FIELD, UNKNOWN_KIND, UNKNOWN_REFERENCE, UNKNOWN_VERSION

OWN = "policygen.dev/v1alpha1"
"""The apiVersion of policygen's own kinds."""

GROUP = "policygen.dev"

CONFIG_MAP = "gpu-scheduler-config"
"""Name of the only ConfigMap that is part of a spec."""

QUEUES_AT = ("data", "scheduler-config.yaml")
"""The path of the queues in the ConfigMap; without this key, it is an ordinary ConfigMap."""


_OF_KUBE_SCHEDULER = re.compile(r"^kind: *[\"']?KubeSchedulerConfiguration", re.MULTILINE)
"""The text of an ordinary ConfigMap that has the name and the key of the one of queues by chance."""


class DocumentForm(Struct, frozen=True):
    """An accepted form of a document."""

    api_version: str
    kind: str
    schema: str
    """File name below schemas/spec/."""
    name: str | None = None
    """Only the object of this name; None: every object of its kind."""


PLATFORM = DocumentForm(OWN, "Platform", "platform.schema.json")
RESOURCE_POOL = DocumentForm(OWN, "ResourcePool", "resource-pool.schema.json")
TEAM = DocumentForm(OWN, "Team", "team.schema.json")
MODEL = DocumentForm(OWN, "Model", "model.schema.json")
ARTICLE_POOL = DocumentForm(
    "gpu.example.com/v1", "ResourcePool", "gpu.example.com-resource-pool.schema.json"
)
ARTICLE_MODEL = DocumentForm(
    "inference.example.com/v1",
    "ModelServingSpec",
    "inference.example.com-model-serving-spec.schema.json",
)
ARTICLE_QUEUES = DocumentForm("v1", "ConfigMap", "gpu-scheduler-config.schema.json", CONFIG_MAP)

FORMS: tuple[DocumentForm, ...] = (
    PLATFORM,
    RESOURCE_POOL,
    TEAM,
    MODEL,
    ARTICLE_POOL,
    ARTICLE_MODEL,
    ARTICLE_QUEUES,
)
"""Every form of a document."""

SCHEDULER_CONFIG = DocumentForm("", "scheduler-config.yaml", "scheduler-config.schema.json")
"""The text inside the ConfigMap, which has no header."""

_KINDS = frozenset(form.kind for form in FORMS)

_SIMILAR_NAME = 0.93
"""The similarity from which a ConfigMap's name counts as a misspelling of CONFIG_MAP."""

_SIMILAR_KEY = 0.8
"""The similarity from which a key counts as a misspelling of that of the queues."""

_SIMILAR_GROUP = 0.8
"""The similarity from which a group counts as a misspelled `policygen.dev`."""


def schema_names() -> Mapping[str, str]:
    """The file names of the schemas that `policygen schema` can print, by the name of the form."""
    return {
        "Platform": PLATFORM.schema,
        "ResourcePool": RESOURCE_POOL.schema,
        "Team": TEAM.schema,
        "Model": MODEL.schema,
        "gpu.example.com/ResourcePool": ARTICLE_POOL.schema,
        "ModelServingSpec": ARTICLE_MODEL.schema,
        CONFIG_MAP: ARTICLE_QUEUES.schema,
        "scheduler-config.yaml": SCHEDULER_CONFIG.schema,
    }


def ours(header: Header) -> bool:
    """Whether a document is part of a spec, so that its faults are errors.

    It is if policygen reads its API group, with any version and kind, or if it is the ConfigMap of
    queues. Documents without apiVersion, and our kinds with a misspelled or missing group, also
    count: to skip a team's quota silently would be worse than an error. All other documents are
    foreign.
    """
    if not header.api_version or (header.name == CONFIG_MAP and not header.kind):
        return True
    group = _group(header.api_version)
    if group in _versions():
        return True
    if header.kind == ARTICLE_QUEUES.kind:
        return not group and _similarity(header.name, CONFIG_MAP) >= _SIMILAR_NAME
    if (
        header.name == CONFIG_MAP
        and _similarity(header.kind, ARTICLE_QUEUES.kind) >= _SIMILAR_GROUP
    ):
        return True
    return header.kind in _KINDS and (not group or _is_misspelt(group))


def certainly_ours(header: Header) -> bool:
    """Whether a document among other manifests is part of a spec.

    It is if policygen reads its API group, or if it is exactly the ConfigMap of queues.
    """
    if header.api_version and _group(header.api_version) in _versions():
        return True
    queues = ARTICLE_QUEUES
    names = (header.api_version, header.kind, header.name)
    return names == (queues.api_version, queues.kind, queues.name)


def is_ordinary(document: Document, *, among: bool = False) -> bool:
    """Whether a ConfigMap only has the name of the ConfigMap of queues, for example a scheduler's own.

    In a spec, a similar key, or another text with queues, is a mistake and no ordinary ConfigMap.
    `among` is whether the document is among other manifests.
    """
    header, queues = document.header, ARTICLE_QUEUES
    names = (header.api_version, header.kind, header.name)
    if names != (queues.api_version, queues.kind, queues.name) or document.data is None:
        return False
    parent, key = QUEUES_AT
    texts = document.data.get(parent)
    keys = texts if isinstance(texts, dict) else {}
    if _OF_KUBE_SCHEDULER.search(str(keys.get(key, ""))):
        return True
    if among:
        return key not in keys
    similar = any(_similarity(name, key) >= _SIMILAR_KEY for name in keys)
    return not similar and "queues:" not in str(document.data)


def form_of(header: Header, document: int) -> DocumentForm | Hit:
    """The form of a document that is `ours`, or a Hit about its header."""
    at = At(document)
    if not header.api_version:
        return _without_version(header, at)
    for form in FORMS:
        if (form.api_version, form.kind) == (header.api_version, header.kind) and (
            form.name in {None, header.name}
        ):
            return form
    group = _group(header.api_version)
    if not group and (header.name == CONFIG_MAP or header.kind == ARTICLE_QUEUES.kind):
        return _not_the_queues(header, at)
    version = _versions().get(group, OWN)
    kinds = [form.kind for form in FORMS if form.api_version == version]
    if not header.kind:
        at = at / "kind"  # the empty field, or the document's first line
        return Hit(MISSING_FIELD, f'"kind" is missing; write kind: {listed(kinds)}', at)
    if header.kind not in _KINDS:
        return Hit(
            UNKNOWN_KIND,
            f"{version} has no kind {quoted(header.kind)}; {suggest(header.kind, kinds)}",
            at / "kind",
        )
    if header.kind in kinds:
        return Hit(
            UNKNOWN_VERSION,
            f"{quoted(header.api_version)} is not an apiVersion that policygen reads; write {version}",
            at / "apiVersion",
        )
    return Hit(
        UNKNOWN_VERSION,
        f"{quoted(header.api_version)} has no kind {quoted(header.kind)}; "
        f"write apiVersion: {_version_of(header.kind)}",
        at / "apiVersion",
    )


def _not_the_queues(header: Header, at: At) -> Hit:
    """The part of the header in which a document differs from the ConfigMap of queues."""
    if header.kind != ARTICLE_QUEUES.kind:
        return Hit(
            UNKNOWN_KIND,
            f'the document named "{CONFIG_MAP}" must be a ConfigMap; write kind: ConfigMap',
            at / "kind",
        )
    if header.api_version != ARTICLE_QUEUES.api_version:
        return Hit(
            UNKNOWN_VERSION,
            "a ConfigMap cannot have this apiVersion; write apiVersion: v1",
            at / "apiVersion",
        )
    return Hit(
        UNKNOWN_REFERENCE,
        f'policygen reads only ConfigMap "{CONFIG_MAP}", not {quoted(header.name or "")}; correct metadata.name, or move this document out of the spec',
        at / "metadata" / "name",
    )


def _without_version(header: Header, at: At) -> Hit:
    own = [form.kind for form in FORMS if form.api_version == OWN]
    if not header.kind:
        return Hit(
            MISSING_FIELD,
            f'"apiVersion" and "kind" are missing; write apiVersion: {OWN} and kind: {listed(own)}',
            at,
        )
    if header.kind not in _KINDS:
        return Hit(
            MISSING_FIELD,
            f'"apiVersion" is missing, and policygen does not know kind {quoted(header.kind)}; '
            f"write apiVersion: {OWN} and kind: {listed(own)}",
            at,
        )
    return Hit(
        MISSING_FIELD,
        f'"apiVersion" is missing; write apiVersion: {_version_of(header.kind)}',
        at,
    )


def _group(api_version: str) -> str:
    """The API group; empty for an apiVersion without a group, such as `v1`."""
    group, slash, _ = api_version.lower().partition("/")
    return group if slash or "." in group else ""


@cache
def _versions() -> dict[str, str]:
    """The supported apiVersion, by group."""
    return {_group(form.api_version): form.api_version for form in FORMS if "/" in form.api_version}


def _version_of(kind: str) -> str:
    return next((form.api_version for form in FORMS if form.kind == kind), OWN)


def _is_misspelt(group: str) -> bool:
    return _similarity(group, GROUP) >= _SIMILAR_GROUP


def _similarity(text: str | None, known: str) -> float:
    return SequenceMatcher(None, text or "", known).ratio()
