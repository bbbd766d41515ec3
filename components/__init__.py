"""The building blocks: what users write, what policies check, and the Pulumi components that are made of it."""
