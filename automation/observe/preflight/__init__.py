"""Preflight: whether a cluster has what a fleet needs of it, each finding with what to do about it."""
