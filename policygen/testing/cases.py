"""The cases of a folder: each folder with a `findings.txt` is a case."""

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field

from policygen.core.finding import Finding, Place
from policygen.core.rule import Rule
from policygen.documents import files
from policygen.documents.rules import UNREADABLE_INPUT
from policygen.lint.run_rules import BAD_CASE

SHEET = "findings.txt"
"""The file of a case with the expected findings."""


class Case(Struct, frozen=True):
    """A folder with inputs and their expected findings."""

    name: str
    """Path of the case below the folder of the command; if it is that folder, its own name."""
    folder: str
    """Path to open."""

    @property
    def sheet(self) -> Path:
        """The file with the expected findings; a new case does not have it yet."""
        return Path(self.folder) / SHEET


class CaseFolder(Struct):
    """The content of a folder."""

    cases: list[Case] = field(default_factory=list)
    """Ordered by name."""
    specs: list[str] = field(default_factory=list)
    """Specs next to the cases, which all cases share."""
    faults: list[Finding] = field(default_factory=list)

    def refuse(self, path: str, message: str, rule: Rule = BAD_CASE) -> None:
        """Add a fault about a path."""
        self.faults.append(Finding(rule, message, Place(path)))

    def unreadable(self, error: OSError) -> None:
        """Add a fault about a path that cannot be opened."""
        reason = (error.strerror or str(error)).lower()
        self.refuse(str(error.filename), f"cannot be read: {reason}", UNREADABLE_INPUT)


def find(folder: str, *, new: bool = False) -> CaseFolder:
    """The cases at or below a folder, and their faults.

    With `new`, a folder of inputs without a `findings.txt` is a case too.
    """
    found = CaseFolder()
    if not Path(folder).is_dir():
        exists = Path(folder).exists()
        found.refuse(folder, "this is not a folder" if exists else "this folder does not exist")
        return found
    inside = None
    for path, below, names in os.walk(folder, onerror=found.unreadable):
        below[:] = sorted(name for name in below if not name.startswith("."))
        if inside is not None and path.startswith(inside):
            if SHEET in names:
                message = (
                    "a case cannot be inside another case; move the inner case to a separate folder"
                )
                found.refuse(f"{path}/{SHEET}", message)
            continue
        inputs = _inputs(names)
        if SHEET in names or (inputs and new and path != folder):
            inside = f"{path.rstrip('/')}/"
            found.cases.append(_case(path, folder))
        elif inputs and path == folder:
            found.specs = [f"{path.rstrip('/')}/{name}" for name in inputs]
        elif inputs:
            found.refuse(path, _without_sheet(inputs[0]))
    if not found.cases and not found.faults:
        if found.specs and new:
            return CaseFolder(cases=[_case(folder, folder)])
        message = f"this folder contains no cases; a case is a folder with manifests and a {SHEET}"
        found.refuse(folder, _without_sheet(found.specs[0]) if found.specs else message)
    found.cases.sort(key=lambda case: case.name)
    return found


def _case(path: str, folder: str) -> Case:
    name = os.path.relpath(path, folder)
    return Case(Path(path).resolve().name if name == "." else name, path)


def _without_sheet(name: str) -> str:
    name = name.rpartition("/")[2]
    return (
        f"{SHEET} is missing next to {name}; create this file (empty if lint must report nothing), "
        "or use --update"
    )


def _inputs(names: Sequence[str]) -> list[str]:
    return sorted(
        name for name in names if name.lower().endswith(files.ENDINGS) and not name.startswith(".")
    )
