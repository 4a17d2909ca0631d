"""Good and bad documents of every form."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from policygen.spec.forms import FORMS, SCHEDULER_CONFIG, DocumentForm

CORPUS = Path(__file__).parent / "corpus"
ALL_FORMS = (*FORMS, SCHEDULER_CONFIG)


def bad() -> Iterator[tuple[str, DocumentForm, dict, list]]:
    by_stem = {form.schema.removesuffix(".schema.json"): form for form in ALL_FORMS}
    for path in sorted((CORPUS / "bad").glob("*.yaml")):
        form = by_stem[path.stem]
        for case in yaml.safe_load(path.read_text(encoding="utf-8")):
            data = case.get("document") or {
                "apiVersion": form.api_version,
                "kind": form.kind,
                "metadata": {"name": "a"},
                "spec": case["spec"],
            }
            yield f"{path.stem}: {case['case']}", form, data, case["hits"]


BAD = list(bad())


def by_name(cases):
    return [pytest.param(*case[1:], id=case[0]) for case in cases]
