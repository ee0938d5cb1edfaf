"""Boosted regression trees: grown by XGBoost, kept and walked as plain arrays.

A file of trees is checked here, so that none leads outside of itself; XGBoost never reads one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyweave.errors import ConfigError
from skyweave.forecast.predictors.point import table
from skyweave.forecast.predictors.seconds import Whole
from skyweave.model.drive import Values

ROUNDS = 150
DEPTH = 4
_SETTINGS = {
    "max_depth": DEPTH,
    "eta": 0.08,
    "subsample": 0.8,
    "min_child_weight": 20,
    "base_score": 0.0,
    "tree_method": "hist",
    "nthread": 1,
    "seed": 1,
}


@dataclass(frozen=True)
class Trees:
    """Whole binary trees of :data:`DEPTH` levels, a row each; the children of i are 2i + 1, 2i + 2.

    ``columns`` and ``limits`` are those of the splits: below its limit a row goes to the first
    child. ``values`` are those of the leaves, the last level.
    """

    columns: Whole
    limits: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]

    def sum_of(self, features: Values) -> float:
        """Return the sum of all trees for one row."""
        features = features.astype(np.float32)  # as XGBoost compares
        tree = np.arange(len(self.values))
        node = np.zeros(len(self.values), np.int64)
        for _ in range(DEPTH):
            column = self.columns[tree, node]
            node = 2 * node + 2 - (features[column] < self.limits[tree, node])
        return float(self.values[tree, node - (2**DEPTH - 1)].sum())

    def sums_of(self, rows: Values) -> Values:
        """Return the sum of all trees for many rows."""
        rows = rows.astype(np.float32)
        total: Values = np.zeros(len(rows))
        row = np.arange(len(rows))
        for tree in range(len(self.values)):
            node = np.zeros(len(rows), np.int64)
            for _ in range(DEPTH):
                below = rows[row, self.columns[tree, node]] < self.limits[tree, node]
                node = 2 * node + 2 - below
            total += self.values[tree, node - (2**DEPTH - 1)]
        return total

    def state(self) -> dict[str, Any]:
        """Return the arrays."""
        return {
            "trees": len(self.values),
            "columns": self.columns.tolist(),
            "limits": self.limits.tolist(),
            "values": self.values.tolist(),
        }


def read_trees(state: dict[str, Any], features: int) -> Trees:
    """Return the trees of a state; ``ValueError`` if they are none of ``features`` columns."""
    count = state.get("trees")
    if not isinstance(count, int) or not 1 <= count <= ROUNDS:
        raise ValueError(f"trees: give 1 to {ROUNDS}")
    columns = table(state, "columns", count, 2**DEPTH - 1)
    if np.any((columns < 0) | (columns >= features) | (columns != np.floor(columns))):
        raise ValueError(f"columns: give whole numbers below {features}")
    return Trees(
        columns.astype(np.int64),
        table(state, "limits", count, 2**DEPTH - 1),
        table(state, "values", count, 2**DEPTH),
    )


def grow(rows: Values, wanted: Values, objective: str) -> Trees:
    """Grow trees by XGBoost; :class:`ConfigError` where that is not installed."""
    try:
        import xgboost
    except ImportError:
        raise ConfigError(
            "this predictor needs XGBoost; install it with: pip install 'skyweave[predict]'"
        ) from None
    data = xgboost.DMatrix(rows, wanted)
    booster = xgboost.train({**_SETTINGS, "objective": objective}, data, ROUNDS)
    return _whole([json.loads(tree) for tree in booster.get_dump(dump_format="json")])


def _whole(dumped: list[dict[str, Any]]) -> Trees:
    """Return trees as XGBoost prints them, filled up to their whole depth."""
    splits = 2**DEPTH - 1
    columns = np.zeros((len(dumped), splits), np.int64)
    limits = np.zeros((len(dumped), splits))
    values = np.zeros((len(dumped), splits + 1))
    for tree, root in enumerate(dumped):
        todo = [(0, root)]
        while todo:
            place, node = todo.pop()
            if place >= splits:
                values[tree, place - splits] = node["leaf"]
            elif "leaf" in node:
                todo += [(2 * place + 1, node), (2 * place + 2, node)]
            else:
                columns[tree, place] = int(node["split"].removeprefix("f"))
                limits[tree, place] = np.float32(node["split_condition"])
                child = {one["nodeid"]: one for one in node["children"]}
                todo += [(2 * place + 1, child[node["yes"]]), (2 * place + 2, child[node["no"]])]
    return Trees(columns, limits, values)
