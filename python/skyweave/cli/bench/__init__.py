"""skyweave bench: how fast the parts are."""
