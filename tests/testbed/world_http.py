"""An orchestrator behind its interface, without sockets: people, nodes, and who signs what."""

from __future__ import annotations

import hashlib
import json

from starlette.testclient import TestClient

from skyweave.testbed.access import add_person
from skyweave.testbed.api import Office, create_app
from skyweave.testbed.wire import (
    Invitation,
    Join,
    Orders,
    PrivateKey,
    Request,
    sign,
    unseal,
)

NOW = 1_800_000_000.0
PLAN = {
    "title": "t", "node": "alice", "kind": "command", "when": {"kind": "soon", "seconds": 10},
    "work": {"kind": "command", "argv": ["true"]},
}  # fmt: skip


class Front:
    """The interface of an orchestrator whose clock is ``now``."""

    def __init__(self, folder, url: str | None = None) -> None:
        self.now = NOW
        self.office = Office(folder, url, pin="0" * 64, now=lambda: self.now)
        self.http = TestClient(create_app(self.office, ticks=False), raise_server_exceptions=False)
        self.tokens: dict[str, str] = {}

    def people(self, roles: dict[str, str]) -> None:
        with self.office.database.write() as connection:
            for name, role in roles.items():
                self.tokens[name] = add_person(connection, name, role, self.now)

    def ask(self, who: str | None, method: str, path: str, body=None, **more):
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        if isinstance(body, bytes):
            return self.http.request(method, path, content=body, headers=headers, **more)
        return self.http.request(method, path, json=body, headers=headers, **more)

    def good(self, *asked, **more):
        answer = self.ask(*asked, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def upload(self, who: str, content: bytes = b"tar") -> dict:
        digest = hashlib.sha256(content).hexdigest()
        self.good(who, "PUT", f"/inputs/{digest}", content)
        return {"sha256": digest, "bytes": len(content)}

    def party(self, owner: str, name: str, kind: str = "node") -> Agent:
        said = self.good(owner, "POST", "/invitations", {"kind": kind})
        agent = Agent(self, name)
        answer = agent.join(Invitation.parse(said["invitation"]), kind)
        assert answer.status_code == 200, answer.text
        return agent


class Agent:
    """A node that signs."""

    def __init__(self, front: Front, name: str) -> None:
        self.front, self.name, self.key = front, name, PrivateKey.make()
        self.after = 0
        self.number = 0

    def ask(self, method: str, path: str, content: bytes = b"", query: str = "", **changed):
        signed = Request(method, path, query, content)
        key_id = changed.get("key_id", self.name)
        headers = sign(signed, changed.get("key", self.key), key_id, self.front.now)
        where = f"{path}?{query}" if query else path
        return self.front.http.request(method, where, content=content, headers=headers)

    def join(self, invitation: Invitation, kind: str = "node", **changed):
        said = {
            "code": invitation.code, "name": self.name, "kind": kind, "key": self.key.public,
            "version": "0", "address": "192.0.2.1" if kind == "server" else None,
        } | changed  # fmt: skip
        body = Join.model_validate(said).model_dump_json().encode()
        return self.ask("POST", "/agent/join", body, key_id="join")

    def orders(self) -> list:
        answer = self.ask("GET", "/agent/next", query=f"after={self.after}")
        assert answer.status_code == 200, answer.text
        found = []
        for one in Orders.model_validate_json(answer.content).orders:
            numbered = unseal(one, self.front.office.key.public, self.name)
            self.after = numbered.sequence
            found.append(numbered.order)
        return found

    def tell(self, *bodies: dict, outbox: str = "0" * 16):
        events = []
        for body in bodies:
            self.number += 1
            events.append({"sequence": self.number, "time_unix_s": self.front.now, "body": body})
        content = json.dumps({"outbox": outbox, "events": events}).encode()
        return self.ask("POST", "/agent/events", content)
