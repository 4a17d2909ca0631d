"""The names of the rules that speak of drift, which its mending knows as well."""

CHANGED, MISSING, ORPHANED, TAKEN = (
    "field-drifted",
    "object-missing",
    "object-orphaned",
    "object-taken-over",
)
RULES = frozenset({CHANGED, MISSING, ORPHANED, TAKEN})
