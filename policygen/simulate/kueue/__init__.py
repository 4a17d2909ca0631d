"""Kueue's admission, cycle by cycle, as Kueue 0.19 decides."""
