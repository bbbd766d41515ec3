"""Live facts: what clusters say about themselves, and what a plan leaves out because one does not answer."""
