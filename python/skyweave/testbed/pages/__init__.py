"""Pages for people, made on the server; docs/testbed.md says how to open them.

* ``app``: all of them, and the headers that each answer has; ``guards``: who looks, and who acts
* ``session``: who is signed in; ``signing``: signing in and out;
  ``passkeys``, ``oidc``: two ways in
* ``nodes``, ``calendar``, ``runs``, ``submit``, ``triggers``, ``profiles``, ``tokens``, ``people``,
  ``audit``: a page or two each
* ``changes``: what tells a page that it is out of date; ``render``: templates, and words in them

They show and do what ``api`` answers: each calls its functions, with the asker that it would have.
"""

from skyweave.testbed.pages.app import attach

__all__ = ["attach"]
