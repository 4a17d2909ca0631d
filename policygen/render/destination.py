"""Whether the path of `-o` is a file or a folder."""

from pathlib import Path

_ENDINGS = (".yaml", ".yml")


def is_file(path: Path) -> bool:
    """Whether the name is that of a file for all documents; else it is a folder of files."""
    return path.suffix.lower() in _ENDINGS
