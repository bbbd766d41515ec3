"""ModelCache: weights staged once on every cluster that may serve them."""

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from components.api import syntax
from components.api.base import BERTH, LATER, Items, LabelSelector, Manifest, OwnValues, Ruled, ShortMetadata
from components.api.cache_source import S3, AuthSecret, Gcs, HuggingFace, Ngc, Oci, Pvc
from components.api.codes import Code
from components.api.conditions import ChosenBlock
from components.api.rules import checked, distinct

__all__ = ["AuthSecret", "HuggingFace", "ModelCache", "ModelCacheSpec"]

Pattern = Annotated[str, Field(min_length=1, max_length=253), checked(syntax.file_pattern, Code.VALUE_INVALID)]

_BLOCKS: Final = {"HuggingFace": "hugging_face", "S3": "s3", "GCS": "gcs", "OCI": "oci", "PVC": "pvc", "NGC": "ngc"}
"""The block of each source."""

Patterns = Annotated[Items[Pattern], Field(min_length=1, max_length=64), distinct("the pattern")]


class ModelCacheSpec(Ruled):
    """Weights and where they are staged."""

    CONDITIONS: ClassVar = (ChosenBlock("source", _BLOCKS),)

    source: Annotated[
        Literal["HuggingFace", "S3", "GCS", "OCI", "PVC", "NGC"],
        OwnValues(frozenset({"S3", "GCS", "OCI", "PVC", "NGC"}), supported=False),
    ]
    """Where the weights come from; the block of the same name must be there."""

    hugging_face: HuggingFace | None = None
    """A repository on Hugging Face."""

    cluster_selector: LabelSelector | None = None
    """Clusters it is staged on; every cluster without it."""

    s3: Annotated[S3 | None, LATER] = None
    """Objects of a bucket on S3."""

    gcs: Annotated[Gcs | None, LATER] = None
    """Objects of a bucket on Google Cloud Storage."""

    oci: Annotated[Oci | None, LATER] = None
    """An artefact in an OCI registry."""

    pvc: Annotated[Pvc | None, LATER] = None
    """A volume claim that exists."""

    ngc: Annotated[Ngc | None, LATER] = None
    """A model on NVIDIA NGC."""

    include: Annotated[Patterns | None, BERTH] = None
    """Patterns of the files to stage, such as `*.safetensors`; all without it."""

    exclude: Annotated[Patterns | None, BERTH] = None
    """Patterns of files to leave out, even if they are included."""

    checksum: Annotated[Annotated[str, checked(syntax.checksum, Code.VALUE_INVALID)] | None, LATER] = None
    """SHA-256 over the sorted lines `<SHA-256 of the file>  <path>` of all staged files, as `sha256:<64 digits>`."""

    image: Annotated[Annotated[str, Field(min_length=1), checked(syntax.image, Code.IMAGE_INVALID)] | None, BERTH] = (
        None
    )
    """Image of the job that stages; it needs `sh` and `pip`."""


class ModelCache(Manifest):
    """Weights staged on clusters."""

    SHORT_NAME: ClassVar[str] = "mc"
    COLUMNS: ClassVar[tuple[tuple[str, str], ...]] = (("SOURCE", "spec.huggingFace.repo"),)

    kind: Literal["ModelCache"]
    """Always `ModelCache`."""

    metadata: ShortMetadata
    """Name, namespace, labels and annotations."""

    spec: ModelCacheSpec
    """The cache."""

    @property
    def size_gib(self) -> int:
        """Size of the volume, in GiB."""
        return self.spec.hugging_face.size_gib if self.spec.hugging_face else 0
