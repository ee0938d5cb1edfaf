"""Schedulers and congestion controls: what there is, and what it does on a link."""

from skyweave.algorithms.catalogue import Algorithm, Parameter, find, names

__all__ = ["Algorithm", "Parameter", "find", "names"]
