"""UDPipe's protocol, with requests as its official client makes them."""

import email.mime.multipart
import email.mime.nonmultipart
import email.policy

import pytest

from helpers.garden import DEV
from swvp import Pipeline

TEXT = "The old cat sleeps.\nAnn sees Bob.\n"


def multipart(**fields):
    """The body and the header that the client sends: parts of text with a charset, lines that end in CR LF."""
    message = email.mime.multipart.MIMEMultipart("form-data", policy=email.policy.HTTP)
    for name, value in fields.items():
        part = email.mime.nonmultipart.MIMENonMultipart("text", "plain")
        part.add_header("Content-Disposition", f'form-data; name="{name}"')
        part.add_header("Content-Transfer-Encoding", "8bit")
        part.set_payload(value, charset="utf-8")
        message.attach(part)
    return message.as_bytes().split(b"\r\n\r\n", maxsplit=1)[1], {"Content-Type": message["Content-Type"]}


@pytest.fixture
def process(client):
    def post(**fields):
        body, headers = multipart(**fields)
        response = client.post("/process", content=body, headers=headers)
        assert response.status_code == 200, response.text
        answer = response.json()
        assert set(answer) == {"model", "acknowledgements", "result"}
        return answer["result"]

    return post


def test_models_are_listed_with_what_they_do(client):
    assert client.get("/models").json() == {
        "models": {"garden": ["tokenizer", "tagger", "parser"], "names": ["tagger"], "trees": ["parser"]},
        "default_model": "garden",
    }


def test_text_is_tokenized_tagged_and_parsed(process, model_folder):
    result = process(input="conllu", output="conllu", data=TEXT, tokenizer="", tagger="", parser="")
    assert result == Pipeline.load(model_folder / "garden.swvp")(TEXT).to_conllu()


def test_stages_that_are_not_asked_for_are_not_done(process):
    rows = [line.split("\t") for line in process(data=TEXT, tokenizer="").splitlines() if "\t" in line]
    assert {row[3] for row in rows} == {"_"}
    rows = [line.split("\t") for line in process(data=TEXT, tokenizer="", tagger="").splitlines() if "\t" in line]
    assert "NOUN" in {row[3] for row in rows}
    assert {row[6] for row in rows} == {"_"}


def test_conllu_keeps_what_is_not_predicted(process):
    given = DEV.read_text(encoding="utf-8")

    def columns(text, *numbers):
        rows = [line.split("\t") for line in text.splitlines() if "\t" in line]
        return [[row[k] for k in numbers] for row in rows]

    assert process(data=given) == given
    assert columns(process(data=given, tagger=""), 1, 6, 7, 8, 9) == columns(given, 1, 6, 7, 8, 9)
    assert "# sent_id = dev-2\n" in process(data=given, tagger="", parser="")
    assert columns(process(data=given, parser="", model="trees"), 1, 2, 3) == columns(given, 1, 2, 3)


@pytest.mark.parametrize("kind", ["query", "urlencoded", "multipart"])
def test_parameters_come_in_three_ways(client, kind):
    fields = {"data": "Ann sees Žofie.", "tokenizer": "", "output": "horizontal"}
    if kind == "query":
        response = client.get("/process", params=fields)
    elif kind == "urlencoded":
        response = client.post("/process", data=fields)
    else:
        body, headers = multipart(**fields)
        response = client.post("/process", content=body, headers=headers)
    assert response.json()["result"] == "Ann sees Žofie .\n"


def test_other_formats(process):
    assert process(data="Ann sees Bob .\n", input="horizontal", output="vertical") == "Ann\nsees\nBob\n.\n\n"
    assert process(data="Ann\nsees\nBob\n\n", input="vertical", output="horizontal") == "Ann sees Bob\n"
    assert process(data=TEXT, tokenizer="", output="plaintext") == TEXT
    assert process(data=TEXT, tokenizer="presegmented", output="plaintext") == TEXT


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "The parameter 'data' is required."),
        ({"data": "a", "model": "x"}, "The requested model 'x' does not exist."),
        ({"data": "a", "output": "epe"}, "Unknown output format 'epe'"),
        ({"data": "a", "input": "epe"}, "Cannot parse the input in 'epe' format"),
        ({"data": "a"}, "conllu"),
        ({"data": "a", "tokenizer": "", "model": "names"}, "has no tokenizer"),
        ({"data": "a " * 1001, "input": "horizontal"}, "words of a sentence: 1,001, at most 1,000"),
    ],
)
def test_errors_are_text_of_status_400(client, fields, message):
    response = client.post("/process", data=fields)
    assert response.status_code == 400
    assert response.headers["content-type"].startswith("text/plain")
    assert message in response.text


def test_a_form_that_is_none_is_refused(client):
    for kind in ("multipart/form-data", "multipart/form-data; boundary=x", "text/plain", "application/json"):
        response = client.post("/process", content=b"--y\r\n\r\n{", headers={"Content-Type": kind})
        assert response.status_code == 400, kind
