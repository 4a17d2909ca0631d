"""The folder of templates/ and schemas/: the data folder of the wheel, or next to the package."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def root() -> Path:
    """The folder with `templates` and `schemas`.

    An editable install uses the checkout, where the package has no data folder. importlib.resources
    would also support a package inside a zip file, but pip never installs one. Its import takes as
    long as the validation of a small spec.
    """
    packaged = PACKAGE / "_data"
    return packaged if packaged.is_dir() else PACKAGE.parent
