"""The user's language: one module per noun, a loader that locates every mistake, and the fleet it gives. Pure."""
