"""Who may do what, and how that is known.

* ``rights``: roles, and what each may reach; ``people``: accounts
* ``secrets``: tokens and codes, kept as hashes; ``passkeys``: WebAuthn;
  ``oidc``: OpenID providers; ``identities``: who of theirs is who here
* ``once``: what a browser brings back once; ``audit``: who did what
"""

from skyweave.testbed.access.audit import note
from skyweave.testbed.access.people import (
    add_person,
    change_person,
    first_admin,
    first_admin_code,
    revoke_tokens,
)
from skyweave.testbed.access.rights import RIGHTS, ROLES, SCOPES, Person, Right
from skyweave.testbed.access.secrets import make_code, make_token, new_id, person_of, use_code

__all__ = [
    "RIGHTS", "ROLES", "SCOPES", "Person", "Right", "add_person", "change_person", "first_admin",
    "first_admin_code", "make_code", "make_token", "new_id", "note", "person_of", "revoke_tokens",
    "use_code",
]  # fmt: skip
