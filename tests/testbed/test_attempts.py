"""How often somebody may fail to sign in: by address, by account, and who is not held up by it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from visitors import HOST, Browser
from world_http import Front

from skyweave.testbed.access import make_code
from skyweave.testbed.api.attempts import EACH_S, MOST_AT_ONCE, Attempts, Pace, address_of
from skyweave.testbed.pages.signing import CODE_KIND
from skyweave.testbed.wire import Invitation

WRONG = "skyweave_" + "A" * 43
NO_CODE = "AAAA-AAAA-AAAA-AAAA"


@pytest.fixture
def front(tmp_path):
    made = Front(tmp_path / "office")
    made.people({"ada": "admin", "owner": "owner"})
    yield made
    made.http.close()
    made.office.close()


def exhaust(front: Front, count: int = MOST_AT_ONCE) -> None:
    for _ in range(count):
        assert front.http.get("/me", headers=bearer(WRONG)).status_code == 401


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_guesses_are_answered_with_when_to_try_again(front):
    browser = Browser(front)
    for _ in range(MOST_AT_ONCE):
        assert browser.send("/pages/sign-in", {"secret": WRONG}).status_code == 403
    answer = browser.send("/pages/sign-in", {"secret": WRONG})
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == f"{EACH_S:.0f}"
    assert "refused too often; try again in 30 s" in answer.text
    good = browser.send("/pages/sign-in", {"secret": front.tokens["ada"]})
    assert good.status_code == 429, "a guess is not looked at, so a good one is not told from it"
    front.now += EACH_S
    assert browser.send("/pages/sign-in", {"secret": front.tokens["ada"]}).status_code == 303


def test_every_way_in_counts_for_every_other(front):
    """Pages, interface, the first admin's code and invitations have one count together."""
    forged = Invitation(url=HOST, code=NO_CODE, pin=None)
    browser, node = Browser(front), front.party("owner", "alice")
    tried = [
        lambda: browser.send("/pages/sign-in", {"secret": NO_CODE}),
        lambda: browser.send("/pages/first", {"code": NO_CODE, "name": "eve"}),
        lambda: front.http.post("/first", json={"code": NO_CODE, "name": "eve"}),
        lambda: front.http.get("/me", headers=bearer(WRONG)),
        lambda: node.join(forged),
    ]
    codes = [ask().status_code for ask in tried]
    assert set(codes) <= {401, 403}, codes
    exhaust(front, MOST_AT_ONCE - len(tried))
    assert [ask().status_code for ask in tried] == [429] * len(tried)


def test_programs_that_work_are_not_held_up_by_a_neighbour_who_fails(front):
    front.good("owner", "GET", "/me")
    exhaust(front)
    assert front.http.get("/me", headers=bearer(WRONG)).status_code == 429
    front.good("owner", "GET", "/me")
    assert front.ask("ada", "GET", "/me").status_code == 429, "not seen here before"


def test_a_revoked_token_that_was_good_is_refused_and_counted_no_more_than_looked_at(front):
    made = front.good("owner", "POST", "/me/tokens", {"label": "x", "scopes": ["read"]})
    assert front.http.get("/me", headers=bearer(made["token"])).status_code == 200
    front.good("owner", "DELETE", f"/me/tokens/{made['id']}")
    for _ in range(MOST_AT_ONCE + 5):
        answer = front.http.get("/me", headers=bearer(made["token"]))
        assert answer.status_code == 401


def test_who_signs_in_well_is_never_counted(front):
    for _ in range(MOST_AT_ONCE * 2):
        Browser(front, "ada")


def test_an_account_is_signed_in_to_by_codes_only_so_often(front):
    with front.office.database.write() as connection:
        codes = [make_code(connection, CODE_KIND, "ada", front.now)
                 for _ in range(MOST_AT_ONCE + 1)]  # fmt: skip
        other = make_code(connection, CODE_KIND, "owner", front.now)
    answers = [Browser(front).send("/pages/sign-in", {"secret": one}) for one in codes]
    assert [one.status_code for one in answers] == [303] * MOST_AT_ONCE + [429]
    assert "sign in as ada; try again in 30 s" in answers[-1].text
    assert Browser(front).send("/pages/sign-in", {"secret": other}).status_code == 303
    front.now += EACH_S
    again = Browser(front).send("/pages/sign-in", {"secret": codes[-1]})
    assert again.status_code == 303, "the code was not used up"


@pytest.mark.parametrize(
    ("client", "forwarded", "behind_proxy", "meant"),
    [
        ("192.0.2.7", None, False, "192.0.2.7"),
        ("192.0.2.7", "198.51.100.1", False, "192.0.2.7"),
        ("127.0.0.1", "6.6.6.6, 198.51.100.1", True, "198.51.100.1"),
        ("127.0.0.1", None, True, "127.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", None, False, "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", None, False, "192.0.2.7"),
        ("127.0.0.1", "<script>" * 100, True, ("<script>" * 8)),
    ],
)
def test_whose_request_it_is(front, client, forwarded, behind_proxy, meant):
    front.office.behind_proxy = behind_proxy
    seen = []
    front.http.app.add_route("/whose", lambda request: seen.append(address_of(request)))
    http = TestClient(front.http.app, client=(client, 5), raise_server_exceptions=False)
    http.get("/whose", headers={"X-Forwarded-For": forwarded} if forwarded else {})
    assert seen == [meant]


def test_addresses_of_others_have_a_count_of_their_own(front):
    exhaust(front)
    other = TestClient(front.http.app, base_url=HOST, client=("198.51.100.9", 5))
    assert other.get("/me", headers=bearer(WRONG)).status_code == 401


def test_what_is_remembered_is_bounded():
    pace = Pace(most=1, each_s=10, names=3)
    for name in "abcde":
        assert pace.take(name, 0.0) == 0
    assert len(pace) == 3
    assert pace.take("e", 0.0) == 10
    pace.give_back("e", 0.0)
    assert len(pace) == 2, "who owes nothing takes no room"
    attempts = Attempts()
    for number in range(10_050):
        with attempts.of("here", 0.0, f"{number}"):
            pass
    assert len(attempts._good) == 10_000


@given(st.lists(st.floats(0, 100), max_size=60), st.integers(1, 5))
def test_no_window_holds_more_than_was_allowed(gaps, most):
    """In any time of w seconds at most ``most + w / each_s`` are taken."""
    pace, each_s, now, taken = Pace(most, 30.0), 30.0, 0.0, []
    for gap in gaps:
        now += gap
        if pace.take("x", now) == 0:
            taken.append(now)
    for first, begin in enumerate(taken):
        for last, end in enumerate(taken[first:], first):
            assert last - first + 1 <= most + (end - begin) / each_s + 1e-6


def test_a_clock_that_is_put_back_shuts_nobody_out():
    pace = Pace(most=2, each_s=10)
    assert [pace.take("x", 1e6) for _ in range(3)] == [0, 0, 10]
    assert [pace.take("x", 1e3) for _ in range(3)] == [0, 0, 10]
