"""skyweave bench: how fast the parts are."""

__all__: list[str] = []
