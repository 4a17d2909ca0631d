"""Where templates/ and schemas/ are: in the wheel's data folder, or beside the package."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def root() -> Traversable:
    """The folder that holds `templates` and `schemas`.

    An editable install sees the checkout, where no data folder is in the package.
    """
    packaged = files("policygen") / "_data"
    return packaged if packaged.is_dir() else Path(__file__).parent.parent
