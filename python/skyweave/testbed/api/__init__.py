"""The interface over HTTP: FastAPI, with an OpenAPI document at ``/openapi.json``.

* ``app``: all of it; ``office``: what it stands on
* ``guards``: who asks; ``limits``: how much is read; ``attempts``, ``allowance``: how often;
  ``ranges``: which part of a file
* ``agent``: nodes and servers; for people: ``people``, ``passkeys``, ``identities``,
  ``nodes``, ``experiments``, ``runs``
* ``views``: what is answered; ``serve``: one process with its certificate
"""

from skyweave.testbed.api.app import create_app
from skyweave.testbed.api.office import Bells, Office

__all__ = ["Bells", "Office", "create_app"]
