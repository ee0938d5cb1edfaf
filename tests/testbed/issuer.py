"""An OpenID provider on this machine, with real keys, that can be told to lie."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

CLIENT, SECRET = "skyweave", "s3cret:with %/ä"


@cache
def keys() -> dict[str, Any]:
    return {
        "RS256": RSAKey.generate_key(2048, {"kid": "r", "use": "sig"}),
        "ES256": ECKey.generate_key("P-256", {"kid": "e", "use": "sig"}),
    }


class Issuer:
    """Codes and ID tokens of whoever ``subject`` is. ``lie`` changes the claims of a token."""

    def __init__(self, now: Callable[[], float], kind: str = "RS256") -> None:
        self.now, self.subject, self.kind = now, "sub-of-ada", kind
        self.keys = keys().copy()
        self.lie: Callable[[dict[str, Any]], None] = lambda claims: None
        self.sign: Callable[[dict[str, Any]], str] = self.signed
        self.described: dict[str, Any] = {}
        self.asked: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.answer: tuple[int, bytes] | None = None
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.serve(self, b"")

            def do_POST(self) -> None:
                issuer.serve(self, self.rfile.read(int(self.headers["content-length"])))

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def serve(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        parts = urlsplit(request.path)
        self.asked.append(parts.path)
        if self.answer is not None:
            self.send(request, *self.answer)
        elif parts.path == "/.well-known/openid-configuration":
            self.send(request, 200, json.dumps(self.description()).encode())
        elif parts.path == "/keys":
            listed = [one.as_dict(private=False) for one in self.keys.values()]
            listed += [{"kty": "oct", "k": "AAAA"}, {"kty": "strange"}, "no key"]
            self.send(request, 200, json.dumps({"keys": listed}).encode())
        elif parts.path == "/authorize":
            back = self.authorize(f"{self.url}{request.path}")
            request.send_response(303)
            request.send_header("Location", back)
            request.end_headers()
        elif parts.path == "/token":
            self.token(request, dict(parse_qsl(body.decode())))
        else:
            self.send(request, 404, b"{}")

    def send(self, request: BaseHTTPRequestHandler, status: int, content: bytes) -> None:
        request.send_response(status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    def description(self) -> dict[str, Any]:
        return {
            "issuer": self.url, "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token", "jwks_uri": f"{self.url}/keys",
            "authorization_response_iss_parameter_supported": True,
        } | self.described  # fmt: skip

    def authorize(self, address: str) -> str:
        """Let somebody in, and return where their browser goes back to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert asked["scope"] == "openid"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        answer = {"code": code, "state": asked["state"], "iss": self.url}
        return f"{asked['redirect_uri']}?{urlencode(answer)}"

    def token(self, request: BaseHTTPRequestHandler, form: dict[str, str]) -> None:
        asked = self.codes.pop(form["code"], None)
        pair = base64.b64encode(b"skyweave:s3cret%3Awith%20%25%2F%C3%A4").decode()
        known = request.headers["authorization"] == f"Basic {pair}"
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or not known or asked["code_challenge"] != proof:
            self.send(request, 400, b'{"error": "invalid_grant"}')
            return
        assert form["redirect_uri"] == asked["redirect_uri"]
        claims = {
            "iss": self.url, "aud": CLIENT, "sub": self.subject, "nonce": asked["nonce"],
            "iat": int(self.now()), "exp": int(self.now()) + 300,
        }  # fmt: skip
        self.lie(claims)
        self.send(request, 200, json.dumps({"id_token": self.sign(claims)}).encode())

    def signed(self, claims: dict[str, Any], **header: Any) -> str:
        key = self.keys[self.kind]
        said = {"alg": self.kind, "kid": key.kid} | header
        return jwt.encode(said, claims, key, algorithms=[self.kind])
