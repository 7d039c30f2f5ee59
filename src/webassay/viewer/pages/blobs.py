"""Pictures, trees and logs of a run, by their hash."""

from starlette.exceptions import HTTPException
from starlette.responses import Response

from webassay.core.errors import StoreError
from webassay.core.trajectory import BlobRef
from webassay.viewer.page import Page, PageVisit

_PICTURES = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png", b"GIF8": "image/gif"}


def kind_of(data: bytes) -> str:
    """By its first bytes: what a run says about its blobs is not trusted. Everything but pictures is plain text."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for head, kind in _PICTURES.items() if data.startswith(head)), "text/plain; charset=utf-8")


def blob(visit: PageVisit) -> Response:
    ref = BlobRef(hash=visit.one("hash"), media_type="", size=0)
    with visit.opened() as recorded:
        blobs = recorded.store.blobs
    try:
        data = blobs.read(ref)
    except StoreError:
        raise HTTPException(404, "There is no such picture or log in this run, or it is damaged.") from None
    # It never changes: its address is the hash of its content.
    return Response(data, media_type=kind_of(data), headers={"cache-control": "private, max-age=86400, immutable"})


BLOB = Page("blob", "/blob", "A picture, a tree or a log of a run.", blob)
