"""What the demonstrations look with: who runs, what was promised, what is there, and what it takes of the machine."""
