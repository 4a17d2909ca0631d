"""Reads the jobs of a scene."""
