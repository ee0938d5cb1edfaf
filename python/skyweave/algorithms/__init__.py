"""Schedulers and congestion controls: what there is, and what it does on a link."""
