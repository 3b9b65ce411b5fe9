"""The commands of the page on several machines, in their order."""

import re
import shlex
from urllib.request import urlopen

import pytest
from support.fleet_workers import ROOT
from support.markdown import fences
from support.pages import files
from test_fleet_offers import settlers

HOW_TO = ROOT / "docs" / "how-to" / "many-machines.md"


def list_commands():
    """The commands of the page, as words, with the lease of the tests and any port."""
    for fence in fences(HOW_TO.read_text("utf-8")):
        if (fence.kind, fence.name) == ("console", "fleet"):
            for line in re.findall(r"^\$ (.*)$", fence.text, flags=re.MULTILINE):
                yield shlex.split(line.replace("9464", "0").replace("--lease 5", ""))


def find_driver(fleet):
    found = [each for each in fleet.processes if "run letters goes on" in fleet.said(each)]
    return found[0] if found else None


def read_figures(fleet):
    said = re.search(r"http://127.0.0.1:\d+/metrics", fleet.said(fleet.processes[-1]))
    with urlopen(said[0]) as answer:
        return answer.read().decode()


@pytest.mark.postgres
def test_the_commands_of_the_page(fleet):
    for name, text in files(HOW_TO).items():
        if name != "fleet":
            (fleet.folder / name).write_text(text.replace("(sleep 1)", "(sleep 0.3)"))
    shown = []
    for words in list_commands():
        if words[:2] == ["sexplang", "worker"]:
            model = f"scripted:{fleet.folder}/replies.json"
            begun = [model if word.startswith("scripted:") else word for word in words[2:]]
            begun.remove("&")
            worker = fleet.begin(*begun)
            fleet.wait_for(lambda each=worker: "places" in fleet.said(each))
        elif words[0] == "kill":
            fleet.wait_for(lambda: find_driver(fleet)).kill()
        elif words[0] == "curl":
            assert "sexplang_runs{" in read_figures(fleet)
        else:
            if words[2:] == ["show", "letters"]:  # a person waits as long
                fleet.wait_for(lambda: fleet.store.find("letters").state in ("waiting", "done"))
            if words[2:] == ["show", "wide"]:
                fleet.wait_for(lambda: "is left to" in fleet.command("runs", "show", "wide").stdout)
            done = fleet.command(*words[1:])
            assert 0 == done.returncode, done.stderr
            if words[2] == "answer":
                fleet.wait_for_state("letters")
            shown.append(done.stdout)

    assert "Send 10 letters?" in shown[-5] and 'value: "It is good for you.' in shown[-3]
    assert "30" == fleet.wait_for_state("wide").value and len(settlers(fleet)) > 1
