"""The interface over HTTP: FastAPI, with an OpenAPI document at ``/openapi.json``.

* ``app``: all of it; ``office``: what it stands on
* ``guards``: who asks; ``limits``: how much is read
* ``agent``: nodes and servers; ``people``, ``nodes``, ``experiments``, ``runs``: people
* ``views``: what is answered; ``serve``: one process with its certificate
"""

from skyweave.testbed.api.app import create_app
from skyweave.testbed.api.office import Bells, Office

__all__ = ["Bells", "Office", "create_app"]
