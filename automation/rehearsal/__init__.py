"""Rehearsals: simulated cloud providers that the real engine talks to, with faults, and their cloud in a file."""
