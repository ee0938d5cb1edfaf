"""ABR algorithms written in Python: the same contract as the trait in ``crates/video``."""

from __future__ import annotations

from skyweave._skyweave import AbrDownload, AbrView

__all__ = ["Abr", "AbrDownload", "AbrView"]


class Abr:
    """Base class of an ABR algorithm of yours; hand an instance to :func:`skyweave.simulate`.

    The player asks for one chunk of an adaptive film after the other, and before each one what
    quality it shall have, from 0, the lowest; a quality beyond the ladder is its best one.
    """

    def first(self, view: AbrView) -> int:  # noqa: ARG002 (for those who override it)
        """Choose for the first chunk; the lowest quality if this is not overridden."""
        return 0

    def choose(self, view: AbrView) -> int | tuple[int, float]:
        """Choose for chunk ``view.chunk``: a quality, or a quality and seconds to wait first."""
        raise NotImplementedError(f"{type(self).__name__} has no choose(view)")
