"""What the path of `-o` means."""

from pathlib import Path

_ENDINGS = (".yaml", ".yml")


def is_file(path: Path) -> bool:
    """Whether all documents go into this one file, by its name; else each gets one in a folder."""
    return path.suffix.lower() in _ENDINGS
