"""A lint of manifests by texts."""

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest
from tests.lint.linting import TODAY


@pytest.fixture
def lint(tmp_path):
    """Lint texts as the files of one folder."""

    def run(*texts, update=False, **settings):
        folder = tmp_path / "manifests"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for number, text in enumerate(texts):
            (folder / f"{number}.yaml").write_text(text, "utf-8")
        given = LintRequest(manifests=(str(folder),), **settings)
        return (app_lint.update_baseline if update else app_lint.lint)(given, today=TODAY)

    return run
