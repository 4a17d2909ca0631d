"""Traces: jobs of a real or an invented cluster, with the times at which they came."""
