"""People in browsers, without a browser: cookies, forms, and where they lead."""

from __future__ import annotations

import re
from html import unescape

from starlette.testclient import TestClient
from world_http import Front

HOST = "https://testserver"


class Browser:
    """Somebody who looks at pages over TLS, and sends the forms that are in them."""

    def __init__(self, front: Front, who: str | None = None) -> None:
        self.front = front
        self.http = TestClient(
            front.http.app, base_url=HOST, raise_server_exceptions=False, follow_redirects=False
        )
        self._csrf = ""
        if who:
            answer = self.send("/pages/sign-in", {"secret": front.tokens[who]})
            assert answer.status_code == 303, answer.text

    def look(self, path: str, **more):
        return self.http.get(path, **more)

    def good(self, path: str) -> str:
        answer = self.look(path)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.text

    def send(self, path: str, form: dict | None = None, **headers: str):
        headers = {"Origin": HOST} | headers
        return self.http.post(path, data=form or {}, headers=headers)

    def csrf(self) -> str:
        """The word of the session, as the first page has it."""
        if self._csrf:
            return self._csrf
        found = re.search(r'name="csrf" value="([^"]+)"', self.good("/pages/nodes"))
        assert found
        self._csrf = found[1]
        return self._csrf

    def act(self, path: str, form: dict | None = None):
        return self.send(path, {"csrf": self.csrf(), **(form or {})})

    def secret(self, answer) -> str:
        found = re.search(r'<pre class="secret"[^>]*>(.*?)</pre>', answer.text, re.DOTALL)
        assert found, answer.text
        return unescape(found[1])
