"""What the engine starts when the pack is given as a folder or as an executable file."""

from policies.analyzer import serve

serve()
