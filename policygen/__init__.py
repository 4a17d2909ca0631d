"""policygen: one pool-and-model spec is the truth for every GPU policy object."""

__version__ = "0.1.0"
