"""The headers that a person gives for the pages of a host."""

import pytest
from support.page_server import PageServer, leading

import sexplang
from sexplang.hosts import main as command

SECRET = "canary-7f3a9c-0815"


@pytest.fixture(autouse=True)
def secret(monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", SECRET)


def echo(handler):
    """A page with the headers of its request."""
    body = str(handler.headers).encode()
    handler.send_response(200)
    handler.send_header("content-type", "text/plain")
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def permissions(**headers):
    given = {host.replace("_", "."): value for host, value in headers.items()}
    return sexplang.Permissions(net=["127.0.0.1", "localhost"], headers={**given})


TOKEN = {"Authorization": "Bearer secret:SHOP_TOKEN", "X-Team": "tea"}


def test_a_host_gets_its_headers_and_the_program_sees_no_credential():
    with PageServer({"/": echo}) as server:
        allowed = permissions(**{"127.0.0.1": TOKEN})
        page = sexplang.run(f'(fetch "{server.url}/")', permissions=allowed)

    assert server.asked[0][1]["authorization"] == f"Bearer {SECRET}"
    assert "Bearer [redacted]" in page["text"] and "x-team: tea" in page["text"]
    assert SECRET not in repr(allowed)


def test_a_redirect_to_another_host_takes_no_header_along():
    with PageServer({"/a": echo}) as server:
        server.pages["/"] = leading(f"http://localhost:{server.port}/a")
        page = sexplang.run(
            f'(fetch "{server.url}/")', permissions=permissions(**{"127.0.0.1": TOKEN})
        )

    assert page["url"] == f"http://localhost:{server.port}/a"
    assert ["authorization" in sent for _, sent in server.asked] == [True, False]


def test_a_host_outside_gets_none_without_tls(monkeypatch):
    """Whoever is on the way could read it."""
    import socket

    known = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, port, *_, **__: [(*known[0][:4], ("127.0.0.1", port))]
    )
    with PageServer({"/": echo}) as server:
        allowed = sexplang.Permissions(
            net=["tea.example", "127.0.0.1"], headers={"tea.example": TOKEN}
        )
        sexplang.run(f'(fetch "http://tea.example:{server.port}/")', permissions=allowed)

    assert "authorization" not in server.asked[0][1]


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"Authorization": "Bearer secret:NO_SUCH"}, "the environment has no `NO_SUCH`"),
        ({"Authorization": "a Bearer secret:SHOP_TOKEN"}, "more than a word before"),
        ({"Host": "evil.example"}, "belongs to the connection"),
        ({"a b": "c"}, "`a b` is no name of a header"),
        ({"X-Tea": "a\r\nb"}, "has a line break"),
        ("Bearer", "no table of texts"),
    ],
)
def test_headers_that_cannot_be_sent_are_refused_before_the_run(headers, words):
    with pytest.raises(sexplang.Diagnostics) as found:
        sexplang.run("1", permissions=permissions(**{"127.0.0.1": headers}))

    assert found.value.diagnostics[0].code == "bad-configuration"
    assert words in found.value.diagnostics[0].title


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The person's configuration and the project."""
    own = tmp_path / "own" / "sexplang"
    project = tmp_path / "project"
    own.mkdir(parents=True)
    project.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.chdir(project)
    return own / "sexplang.toml", project / "sexplang.toml"


def test_the_command_takes_them_from_the_own_configuration(folders, capsys):
    own, _ = folders
    own.write_text('[fetch."127.0.0.1"]\nheaders = {Authorization = "Bearer secret:SHOP_TOKEN"}\n')
    with PageServer({"/": echo}) as server:
        text = f'(get (fetch "{server.url}/") "text")'
        status = command(["run", "-e", text, "--allow-net", "127.0.0.1", "--no-record"])

    said = capsys.readouterr()
    assert (status, SECRET in said.out + said.err) == (0, False)
    assert server.asked[0][1]["authorization"] == f"Bearer {SECRET}"


def test_a_project_gives_no_header(folders, capsys):
    _, project = folders
    project.write_text('[fetch."127.0.0.1"]\nheaders = {X-Team = "tea"}\n')

    assert command(["run", "-e", "1"]) == 2
    assert "only a person gives headers to a host" in capsys.readouterr().err


def test_a_kept_run_keeps_no_header(folders, tmp_path, capsys):
    """The store has the command without them."""
    own, _ = folders
    own.write_text('[fetch."127.0.0.1"]\nheaders = {Authorization = "Bearer secret:SHOP_TOKEN"}\n')
    store = tmp_path / "runs.db"
    with PageServer({"/": echo}) as server:
        text = f'(get (fetch "{server.url}/") "text")'
        given = ["run", "-e", text, "--allow-net", "127.0.0.1", "--store", str(store)]
        assert command(given) == 0

    assert store.exists()
    files = [file for file in tmp_path.rglob("runs.db*") if file.is_file()]
    assert not [file for file in files if SECRET.encode() in file.read_bytes()]
