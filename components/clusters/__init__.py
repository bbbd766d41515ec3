"""Clusters: what every provider must give, and one package per provider that gives it."""
