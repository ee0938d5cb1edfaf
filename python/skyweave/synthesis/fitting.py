"""Least squares with weights that are not negative, for the parts of a latent."""

from __future__ import annotations

import numpy as np

from skyweave.model.drive import Values


def non_negative_fit(parts: Values, target: Values, total: float) -> list[float]:
    """Least squares with weights ≥ 0 that sum to ``total`` (a heavy row), by coordinate descent."""
    heavy = 10.0
    rows = np.vstack([parts, heavy * np.ones(parts.shape[1])])
    rest = np.append(target, heavy * total)
    weights = np.zeros(parts.shape[1])
    norms = (rows**2).sum(axis=0)
    for _ in range(20_000):
        largest = 0.0
        for j in range(len(weights)):
            new = max(0.0, weights[j] + float(rows[:, j] @ rest) / norms[j])
            largest = max(largest, abs(new - weights[j]))
            rest -= rows[:, j] * (new - weights[j])
            weights[j] = new
        if largest < 1e-9:
            break
    return [float(weight) for weight in weights]
