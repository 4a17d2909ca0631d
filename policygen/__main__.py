"""The program: `policygen`, and `python -m policygen`."""

import gc

# Nearly all that a run makes lives until it ends, imports included: looking for cycles in it
# is wasted. Not in the package, whose importers may live longer.
gc.disable()

from policygen.cli import main  # noqa: E402 - after what must come first

__all__ = ["main"]

if __name__ == "__main__":
    main()
