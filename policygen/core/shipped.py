"""Where templates/ and schemas/ are: in the wheel's data folder, or beside the package."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def root() -> Path:
    """The folder that holds `templates` and `schemas`.

    An editable install sees the checkout, where no data folder is in the package.
    importlib.resources would do the same for a package inside a zip, which pip never leaves
    one in, and takes as long to import as a small spec to validate.
    """
    packaged = PACKAGE / "_data"
    return packaged if packaged.is_dir() else PACKAGE.parent
