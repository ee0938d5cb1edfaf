"""The agent on a node of a testbed: what its owner allows, and nothing else."""

__all__: list[str] = []
