"""Link profiles: what a run met as a drive, and drives in the formats of other emulators.

* ``skyweave.field.profile``: a run's counters and round trips as a drive, to be replayed
* ``timeline``: a path second by second; ``netem``, ``leoreplayer``, ``hypatia``, ``starrynet``:
  one format each; ``export``: all of them
"""

from skyweave.field.profile import Probe, drive_of
from skyweave.testbed.profiles.export import FORMATS, export_profile
from skyweave.testbed.profiles.timeline import Moment, timeline

__all__ = ["FORMATS", "Moment", "Probe", "drive_of", "export_profile", "timeline"]
