"""What the cells of several operators offer together: one cell per carrier, the best of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from skyweave.errors import ConfigError, DataError
from skyweave.model.drive import Values
from skyweave.radio.cells import CellGrid, Integers
from skyweave.radio.equations import LOAD, capacity_mbps, sinr_of_each_db


@dataclass(frozen=True)
class Offer:
    """The best cell of every carrier of every operator, second by second.

    ``carriers`` names the rows as (operator, EARFCN); ``sinr_db`` and ``capacity_mbps`` have shape
    (carriers, seconds), NaN where no cell of the carrier was heard, and ``pci`` says which cell it
    is (-1 there). ``visible`` counts all cells heard, shape (seconds,).
    """

    carriers: tuple[tuple[str, int], ...]
    pci: Integers
    sinr_db: Values
    capacity_mbps: Values
    visible: Integers
    start: datetime | None = None

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators, in the order in which they were given."""
        return tuple(dict.fromkeys(operator for operator, _ in self.carriers))

    @property
    def seconds(self) -> int:
        """Length in seconds."""
        return int(self.capacity_mbps.shape[1])

    @property
    def known(self) -> np.typing.NDArray[np.bool_]:
        """The seconds in which every operator heard at least one cell, shape (seconds,).

        Silence of an operator may as well be a gap in its log, so that only these are compared.
        """
        heard = [~np.isnan(self._of(name)).all(axis=0) for name in self.operators]
        return np.asarray(np.logical_and.reduce(heard))

    @property
    def available(self) -> Values:
        """How many cells can serve at once (one per carrier); NaN where not known."""
        return self._where_known((~np.isnan(self.capacity_mbps)).sum(axis=0))

    def best_of(self, operator: str) -> Values:
        """Capacity in Mbit/s of the operator's best cell; NaN where it heard none."""
        return np.asarray(np.fmax.reduce(self._of(operator), axis=0))

    @property
    def best_single(self) -> Values:
        """Capacity of the best cell of all operators ("Best Single Path"); NaN where not known."""
        return self._where_known(np.fmax.reduce(self.capacity_mbps, axis=0))

    @property
    def multipath(self) -> Values:
        """Summed capacity of all carriers ("multipath"); NaN where not known."""
        return self._where_known(np.nansum(self.capacity_mbps, axis=0))

    @property
    def one_each(self) -> Values:
        """Summed capacity of the best cell of each operator; NaN where not known."""
        return np.asarray(np.sum([self.best_of(name) for name in self.operators], axis=0))

    @property
    def second_best(self) -> Values:
        """Capacity of the second best cell, 0 if there is one alone; NaN where not known."""
        if len(self.carriers) < 2:
            return self._where_known(np.zeros(self.seconds))
        return self._where_known(np.sort(np.nan_to_num(self.capacity_mbps), axis=0)[-2])

    def _of(self, operator: str) -> Values:
        rows = [row for row, (name, _) in enumerate(self.carriers) if name == operator]
        if not rows:
            raise DataError(f"no carrier is of '{operator}'; there are {self.operators}")
        return self.capacity_mbps[rows]

    def _where_known(self, values: Values | Integers) -> Values:
        return np.where(self.known, values, np.nan)


def offer(grids: Sequence[CellGrid], load: float = LOAD) -> Offer:
    """The carriers of operators that share one clock, with Eq. 1 and 2; ``load`` is Q_L.

    Only cells on the same carrier of the same operator interfere. Raises :class:`DataError` if the
    grids differ in length, share a name, or if there are none.
    """
    names = [grid.operator for grid in grids]
    if not grids or len({grid.seconds for grid in grids}) > 1:
        raise DataError("operators need one clock: join them first")
    if len(set(names)) < len(names):
        raise DataError(f"operators {names}: pool the drives of one operator first")
    carriers, pci, sinr = [], [], []
    for grid in grids:
        for earfcn in np.unique(grid.earfcn).tolist():
            rows = grid.earfcn == earfcn
            each = sinr_of_each_db(grid.rsrp_dbm[rows], load)
            heard = ~np.isnan(each).all(axis=0)
            first = np.argmax(np.nan_to_num(each, nan=-np.inf), axis=0)
            carriers.append((grid.operator, int(earfcn)))
            pci.append(np.where(heard, grid.pci[rows][first], -1))
            sinr.append(np.fmax.reduce(each, axis=0))
    sinr_db = np.stack(sinr)
    visible = np.sum([grid.visible for grid in grids], axis=0)
    return Offer(
        tuple(carriers), np.stack(pci), sinr_db, capacity_mbps(sinr_db), visible, grids[0].start
    )


def window_means(values: Values, seconds: int) -> Values:
    """Means over whole windows of ``seconds``, of what is known; NaN for windows without any.

    The rest at the end that fills no window is left out. :class:`ConfigError` below 1 second.
    """
    if seconds < 1:
        raise ConfigError(f"a window of {seconds} s holds no second; give 1 or more")
    count = len(values) // seconds
    windows = values[: count * seconds].reshape(count, seconds)
    known = (~np.isnan(windows)).sum(axis=1)
    sums = np.nansum(windows, axis=1)
    return np.asarray(np.divide(sums, known, out=np.full(count, np.nan), where=known > 0))
