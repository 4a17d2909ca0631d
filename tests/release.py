"""Builds a release of a revision: wheel, sdist, SBOM and checksums.

`python -m tests.release FOLDER` builds the last commit, and `--revision v0.1.0` another one. Two runs in
equal environments write equal bytes: the build uses only committed files, and the time of the commit.
The SBOM lists the versions of the libraries in this environment, with which the tests ran.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import uuid
from datetime import UTC, datetime
from importlib import metadata
from io import BytesIO
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
CHECKSUMS = "SHA256SUMS"
NAME = "policygen"


def release(folder: Path, revision: str = "HEAD") -> list[Path]:
    """Write the files of a release into a new or empty folder, and return them."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"{folder} is not empty; name a new folder")
    time = datetime.fromtimestamp(int(_git("log", "-1", "--format=%ct", revision)), UTC)
    with tempfile.TemporaryDirectory() as scratch:
        source = BytesIO(_git("archive", "--format=tar", revision))
        with tarfile.open(fileobj=source) as archive:
            archive.extractall(scratch, filter="data")
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-d", folder.resolve()],
            cwd=scratch,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(int(time.timestamp()))},
            check=True,
            stdout=subprocess.DEVNULL,
        )
    (wheel,) = folder.glob("*.whl")
    version = wheel.name.split("-")[1]
    sbom = folder / f"{NAME}-{version}.cdx.json"
    sbom.write_text(_sbom(version, wheel, time), "utf-8")
    files = sorted(folder.iterdir())
    sums = "".join(f"{_digest(it)}  {it.name}\n" for it in files)
    (folder / CHECKSUMS).write_text(sums, "utf-8")
    return [*files, folder / CHECKSUMS]


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True).stdout


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _sbom(version: str, wheel: Path, time: datetime) -> str:
    """A CycloneDX document of the wheel and the libraries that it needs, as JSON."""
    bom = Bom()
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, _digest(wheel))
    bom.metadata.timestamp = time
    root = _component(NAME, version, ComponentType.APPLICATION)
    root.hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=_digest(wheel)))
    bom.metadata.component = root
    components = {NAME: root}
    links: dict[str, list[str]] = {}
    waiting = [NAME]
    while waiting:
        name = waiting.pop()
        links[name] = _needs(name)
        for needed in links[name]:
            if needed not in components:
                components[needed] = _component(needed, metadata.version(needed))
                bom.components.add(components[needed])
                waiting.append(needed)
    for name, needs in links.items():
        bom.register_dependency(components[name], [components[it] for it in needs])
    return f"{JsonV1Dot6(bom).output_as_string(indent=1)}\n"


def _needs(name: str) -> list[str]:
    """The installed libraries that a library needs here, without extras."""
    requirements = map(Requirement, metadata.requires(name) or ())
    return sorted(
        canonicalize_name(it.name)
        for it in requirements
        if not it.marker or it.marker.evaluate({"extra": ""})
    )


def _component(name: str, version: str, kind: ComponentType = ComponentType.LIBRARY) -> Component:
    purl = PackageURL("pypi", name=name, version=version)
    text = metadata.metadata(name).get("License-Expression")
    licenses = [LicenseFactory().make_from_string(text)] if text else []
    return Component(
        type=kind, name=name, version=version, purl=purl, bom_ref=str(purl), licenses=licenses
    )


def main() -> None:
    """Build a release and print its files."""
    parser = argparse.ArgumentParser(prog="python -m tests.release", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--revision", default="HEAD")
    options = parser.parse_args()
    for path in release(options.folder, options.revision):
        print(path)


if __name__ == "__main__":
    main()
