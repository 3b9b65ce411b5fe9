"""`fetch` against a server that sends what it likes, and names that lead where they like."""

import gzip
import json
import socket
import zlib
from time import monotonic

import pytest
from support.page_server import PageServer, answer, leading

import sexplang
from sexplang.runtime.permissions import Permissions
from sexplang.runtime.refusal import Refusal
from sexplang.runtime.web import page_request
from sexplang.runtime.web.page_address import permit_addresses, read_address
from sexplang.runtime.web.page_text import MOST_BYTES

LOOPBACK = Permissions(net=["127.0.0.1"])


def fetch(url, *hosts, **options):
    """The page of an address, with these hosts permitted; the loopback if there are none."""
    permissions = Permissions(net=list(hosts)) if hosts else LOOPBACK
    return sexplang.run(f"(fetch {json.dumps(url)})", permissions=permissions, **options)


def refusal(url, *hosts):
    """The reason and the message with which an address is refused."""
    with pytest.raises(sexplang.Failed) as failed:
        fetch(url, *hosts)
    fields = failed.value.error.fields
    return fields["reason"], fields["message"]


@pytest.fixture
def names(monkeypatch):
    """Names and the addresses that they have, one after another; and what was looked up."""
    known, looked_up = {}, []
    resolve = socket.getaddrinfo

    def find(host, port, *args, **options):
        name = host.decode() if isinstance(host, bytes) else host
        if name not in known:
            return resolve(host, port, *args, **options)
        looked_up.append(name)
        found = known[name]
        address = found.pop(0) if len(found) > 1 else found[0]
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", find)
    return known, looked_up


# -- what comes


def test_a_page_comes_as_a_table():
    with PageServer({"/tea": "Tee ist naß."}) as server:
        page = fetch(f"{server.url}/tea#leaf")

    assert page == {
        "status": 200,
        "url": f"{server.url}/tea",
        "type": "text/plain",
        "text": "Tee ist naß.",
        "truncated": False,
    }
    ((path, sent),) = server.asked
    assert path == "/tea"
    assert {"authorization", "cookie"}.isdisjoint(sent)


def test_a_status_is_no_error():
    with PageServer({}) as server:
        page = fetch(f"{server.url}/none")

    assert (page["status"], page["text"]) == (404, "none")


def test_redirects_are_followed_where_they_are_permitted():
    pages = {"/a": leading("b"), "/b": leading("//127.0.0.1:{port}/c"), "/c": "there"}
    with PageServer(pages) as server:
        server.pages["/b"] = leading(f"//127.0.0.1:{server.port}/c", status=307)
        page = fetch(f"{server.url}/a")

    assert (page["text"], page["url"]) == ("there", f"{server.url}/c")


# -- 1 to 6: redirects and addresses that are not public


@pytest.mark.parametrize(
    ("place", "host"),
    [
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
        ("http://10.0.0.1/", "10.0.0.1"),
        ("http://[::1]/", "::1"),
        ("http://localhost/", "localhost"),
        ("http://2130706433/", "2130706433"),
        ("http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1"),
    ],
)
def test_a_redirect_needs_the_permission_too(place, host):
    with PageServer({"/": leading(place)}) as server:
        reason, words = refusal(f"{server.url}/")

    assert reason == "net-denied"
    assert words == f"{host} may not be reached, where 127.0.0.1 leads"


@pytest.mark.parametrize(
    "place", ["file:///etc/passwd", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/"]
)
def test_a_redirect_to_what_is_no_page_is_refused(place):
    with PageServer({"/": leading(place)}) as server:
        assert refusal(f"{server.url}/")[0] == "bad-address"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "169.254.169.254",
        "0.0.0.0",
        "::1",
        "fd00::1",
        "fe80::1",
        "224.0.0.1",
    ],
)
def test_a_permitted_name_leads_to_no_private_address(names, address):
    """The number has to be permitted as well."""
    names[0]["tea.example"] = [address]
    with PageServer({"/": "secret"}) as server:
        reason, words = refusal(f"http://tea.example:{server.port}/", "tea.example")

    assert reason == "net-denied"
    assert words == f"tea.example leads to {address}, which is no public address"
    assert server.asked == []


@pytest.mark.parametrize(
    ("address", "is_fit"),
    [
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("100.64.0.1", False),
        ("192.0.2.1", False),
        ("8.8.8.8", True),
        ("64:ff9b::808:808", True),
        ("2606:4700::1111", True),
    ],
)
def test_addresses_that_stand_for_others_are_taken_for_them(address, is_fit):
    permissions = Permissions(net=["tea.example"])
    page = read_address("https://tea.example/", permissions)
    try:
        assert is_fit is (permit_addresses(page, [address], permissions) == (address,))
    except Refusal as refused:
        assert not is_fit, refused


def test_a_person_may_permit_a_private_address_by_its_number(names):
    names[0]["tea.example"] = ["127.0.0.1"]
    with PageServer({"/": "in the house"}) as server:
        url = f"http://tea.example:{server.port}/"
        page = fetch(url, "tea.example", "127.0.0.1")
        port = fetch(url, f"tea.example:{server.port}", f"127.0.0.1:{server.port}")

        assert refusal(url, "tea.example", "127.0.0.1:1")[0] == "net-denied"
    assert (page["text"], page["url"]) == ("in the house", url)
    assert port == page
    assert server.asked[0][1]["host"] == f"tea.example:{server.port}"


def test_localhost_is_the_loopback():
    with PageServer({"/": "here"}) as server:
        assert fetch(f"http://localhost:{server.port}/", "localhost")["text"] == "here"
        assert refusal(f"{server.url}/", "localhost")[0] == "net-denied"


# -- a changing name


def test_a_name_that_changes_its_address_is_asked_for_once(names):
    """What was checked is connected to, whatever the name means a moment later."""
    known, looked_up = names
    known["tea.example"] = ["127.0.0.1", "127.0.0.2"]
    with PageServer({"/": "checked"}) as server:
        page = fetch(f"http://tea.example:{server.port}/", "tea.example", "127.0.0.1")

    assert page["text"] == "checked"
    assert looked_up == ["tea.example"]


def test_a_redirect_to_a_name_that_has_changed_is_checked_again(names):
    known, looked_up = names
    known["tea.example"] = ["127.0.0.1", "169.254.169.254"]
    with PageServer({}) as server:
        server.pages["/"] = leading(f"http://tea.example:{server.port}/more")
        reason, words = refusal(f"http://tea.example:{server.port}/", "tea.example", "127.0.0.1")

    assert (reason, looked_up) == ("net-denied", ["tea.example", "tea.example"])
    assert words == "tea.example leads to 169.254.169.254, which is no public address"


# -- bounds


def test_a_circle_of_redirects_ends():
    with PageServer({"/": leading("/")}) as server:
        reason, words = refusal(f"{server.url}/")

    assert (reason, len(server.asked)) == ("fetch-failed", 6)
    assert "more than 5 redirects" in words


def _send_forever(handler):
    handler.send_response(200)
    handler.send_header("content-type", "text/plain")
    handler.end_headers()
    while True:
        handler.wfile.write(b"tea " * 10_000)


def test_an_endless_body_is_cut():
    with PageServer({"/": _send_forever}) as server:
        page = fetch(f"{server.url}/")

    assert (len(page["text"]), page["truncated"]) == (MOST_BYTES, True)


def _send_headers_forever(handler):
    handler.send_response(200)
    while True:
        handler.wfile.write(b"x-tea: " + b"a" * 1_000 + b"\r\n")


def test_endless_headers_are_refused():
    with PageServer({"/": _send_headers_forever}) as server:
        assert refusal(f"{server.url}/")[0] == "fetch-failed"


def _drip(server):
    def write(handler):
        handler.send_response(200)
        handler.send_header("content-type", "text/plain")
        handler.end_headers()
        while not server.ended.wait(0.05):
            handler.wfile.write(b".")

    return write


def test_a_body_that_drips_ends_with_the_time(monkeypatch):
    monkeypatch.setattr(page_request.make_fetch, "__defaults__", (0.4,))
    with PageServer({}) as server:
        server.pages["/"] = _drip(server)
        began = monotonic()
        reason, words = refusal(f"{server.url}/")

    assert (reason, words) == (
        "fetch-failed",
        "no page from 127.0.0.1: it did not arrive within 0.4 seconds",
    )
    assert monotonic() - began < 5


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress], ids=["gzip", "deflate"])
def test_a_bomb_is_cut(pack):
    """Of a hundred megabytes in a few kilobytes, one is unpacked."""
    name = "gzip" if pack is gzip.compress else "deflate"
    body = pack(b"\0" * 100_000_000)
    bomb = answer(body, content_type="text/plain", content_encoding=name)
    with PageServer({"/": bomb}) as server:
        page = fetch(f"{server.url}/")

    assert (len(page["text"]), page["truncated"]) == (MOST_BYTES, True)


def test_a_deadline_of_the_program_cuts_a_fetch():
    with PageServer({}) as server:
        server.pages["/"] = _drip(server)
        text = f'(attempt (with-timeout 0.3 (fetch "{server.url}/")) "late")'
        assert sexplang.run(text, permissions=LOOPBACK) == "late"


# -- wrong encodings

TEA = "Grüner Tee"


@pytest.mark.parametrize(
    ("body", "headers", "text"),
    [
        (TEA.encode("latin-1"), {"content_type": "text/plain; charset=iso-8859-1"}, TEA),
        (TEA.encode("latin-1"), {"content_type": "text/plain; charset=utf-8"}, "Gr\ufffdner Tee"),
        (TEA.encode(), {"content_type": "text/plain; charset=no-such"}, TEA),
        (TEA.encode(), {"content_type": "text/plain; charset=unicode_escape"}, TEA),
        (TEA.encode(), {"content_type": "text/plain; charset=zip"}, TEA),
        (TEA.encode("utf-8-sig"), {"content_type": "text/plain; charset=latin-1"}, TEA),
        (TEA.encode("utf-16"), {"content_type": "text/html"}, TEA),
        (TEA.encode("utf-16-le"), {"content_type": "text/html; charset=utf-16"}, TEA),
        (TEA.encode("utf-32"), {"content_type": "text/html"}, TEA),
        (
            f'<meta charset="windows-1252">{TEA}'.encode("cp1252"),
            {"content_type": "text/html"},
            f'<meta charset="windows-1252">{TEA}',
        ),
        (
            gzip.compress(TEA.encode(), mtime=0),
            {"content_encoding": "gzip", "content_type": "text/a"},
            TEA,
        ),
        (TEA.encode(), {"content_type": "application/octet-stream"}, TEA),
        (TEA.encode(), {}, TEA),
        (b'{"a": 1}', {"content_type": "application/ld+json"}, '{"a": 1}'),
    ],
)
def test_encodings_are_read_as_they_are_or_as_they_can_be(body, headers, text):
    with PageServer({"/": answer(body, **headers)}) as server:
        assert fetch(f"{server.url}/")["text"] == text


@pytest.mark.parametrize(
    ("body", "headers", "reason", "words"),
    [
        (b"tea", {"content_encoding": "gzip"}, "fetch-failed", "its compression is broken"),
        (
            gzip.compress(b"tea", mtime=0)[:-6],
            {"content_encoding": "gzip"},
            "fetch-failed",
            "is cut off",
        ),
        (b"tea", {"content_encoding": "br"}, "fetch-failed", "`br` is not supported"),
        (b"tea", {"content_encoding": "gzip, gzip"}, "fetch-failed", "is not supported"),
        (b"\x89PNG\r\n\x1a\n\0\0", {"content_type": "image/png"}, "not-text", "it is image/png"),
        (b"\xff\xfa\0", {"content_type": "<script>"}, "not-text", "of no known type"),
    ],
)
def test_what_cannot_be_read_is_refused(body, headers, reason, words):
    with PageServer({"/": answer(body, **headers)}) as server:
        found, said = refusal(f"{server.url}/")

    assert (found, words in said) == (reason, True)


def _cut(handler):
    handler.send_response(200)
    handler.send_header("content-length", "100")
    handler.end_headers()
    handler.wfile.write(b"tea")


def _garble(handler):
    handler.wfile.write(b"SSH-2.0-OpenSSH\r\n\r\n")


@pytest.mark.parametrize("page", [_cut, _garble])
def test_broken_answers_are_refused(page):
    with PageServer({"/": page}) as server:
        assert refusal(f"{server.url}/")[0] == "fetch-failed"


# -- addresses


@pytest.mark.parametrize(
    "address",
    [
        "",
        "tea",
        "//127.0.0.1/",
        "file:///etc/passwd",
        "http://",
        "http:///tea",
        "http://[::1",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:0/",
        "http://me:secret@127.0.0.1/",
        "http://example.org\\@127.0.0.1/",
        "http://127.0.0.1 /",
        "http://127.0.0.1/\r\nHost: a",
        "http://127.0.0.1/" + "a" * 9_000,
    ],
)
def test_what_is_no_address_is_refused(address):
    assert refusal(address)[0] == "bad-address"


@pytest.mark.parametrize("address", ["http://127.0.0.1./", "http://127.1/", "http://a.127.0.0.1/"])
def test_a_host_is_the_one_that_is_permitted(address):
    assert refusal(address)[0] == "net-denied"


def test_nothing_is_reached_without_a_permission():
    with PageServer({"/": "here"}) as server, pytest.raises(sexplang.Failed) as failed:
        sexplang.run(f'(attempt (fetch "{server.url}/"))(fetch "{server.url}/")')

    assert failed.value.error.fields["reason"] == "net-denied"
    port = server.url.rpartition(":")[2]
    assert failed.value.error.fields["hint"] == f"allow it with --allow-net 127.0.0.1:{port}"
    assert server.asked == []


def test_no_proxy_of_the_environment_is_asked(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9/")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")
    with PageServer({"/": "here"}) as server:
        assert fetch(f"{server.url}/")["text"] == "here"


def test_a_server_without_tls_gives_no_page_over_https(names):
    names[0]["tea.example"] = ["127.0.0.1"]
    with PageServer({"/": "here"}) as server:
        reason, words = refusal(f"https://tea.example:{server.port}/", "tea.example", "127.0.0.1")

    assert (reason, "no connection" in words) == ("fetch-failed", True)


# -- a model's tool


def test_a_model_is_told_what_it_may_not_reach():
    """What it may, it reads."""
    seen = []
    task = '(defatom t (instructions "Read.") (allowed_tools fetch)) (t)'
    with PageServer({"/": "Tea is wet."}) as server:
        uses = [
            {"type": "tool_use", "id": name, "name": "fetch", "input": {"url": url}}
            for name, url in [("a", f"{server.url}/"), ("b", "http://10.0.0.1/"), ("c", "tea")]
        ]
        replies = [uses, "Done."]

        def model(payload):
            seen.append(payload)
            return replies.pop(0)

        assert sexplang.run(task, model=model, permissions=LOOPBACK) == "Done."

    told = {each["tool_use_id"]: each for each in seen[-1]["messages"][-1]["content"]}
    assert "Tea is wet." in told["a"]["content"]
    assert "net-denied" in told["b"]["content"] and told["b"]["is_error"]
    assert "bad-address" in told["c"]["content"] and told["c"]["is_error"]
