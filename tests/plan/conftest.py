"""A pool of Volcano."""

import pytest


@pytest.fixture
def volcano(pool):
    return lambda **options: pool(scheduler="volcano", **options)
