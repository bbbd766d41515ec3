"""The simulated provider program; it runs as its own process and imports no SDK."""
