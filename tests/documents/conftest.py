"""The parsers of documents."""

import pytest
import yaml

from policygen.documents import yaml_stream


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def parser(request, monkeypatch):
    """libyaml, and the Python parser that replaces it if it is missing."""
    monkeypatch.setattr(yaml_stream, "_LOADER", getattr(yaml, request.param))
    return request.param
