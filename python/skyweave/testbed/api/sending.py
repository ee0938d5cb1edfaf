"""Files on their way out of the store."""

from __future__ import annotations

from fastapi.responses import StreamingResponse
from starlette.types import Send

from skyweave.printing import complain
from skyweave.testbed.store import UnavailableError


class Sent(StreamingResponse):
    """A file in pieces; a store that breaks off ends the connection, with a sentence for us.

    Its length was announced, so whoever asked knows what is missing, and comes again for that.
    """

    async def stream_response(self, send: Send) -> None:
        """Send it as far as it comes; the answer is left incomplete, and the server closes."""
        try:
            await super().stream_response(send)
        except UnavailableError as error:
            complain(f"skyweave: {error}")
