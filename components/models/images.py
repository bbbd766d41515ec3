"""The images that Berth itself adds to a replica or a cache, pinned in one place.

An engine's image is the user's; these are not. A change of one rolls every replica's picker, so it is made on purpose
and reviewed: a test pins them literally.
"""

from typing import Final

PICKER: Final = "ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.9.0"
"""The endpoint picker, which the gateway asks which pod should answer a request."""

SIDECAR: Final = "ghcr.io/llm-d/llm-d-router-disagg-sidecar:v0.9.0"
"""The proxy in front of a decode engine, which fetches the prompt's cache from a prefill engine."""

HYDRATION: Final = "python:3.11-slim"
"""Where the job that stages a cache runs."""

HUB_CLIENT: Final = "huggingface_hub==2.4.0"
"""What that job installs (version of October 2026); pinned, so that a Job with the same name does the same."""
