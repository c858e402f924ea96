"""POST /api/v1/explain: the same features as in Python; lessons and traces."""

import pytest

from helpers.garden import DEV
from swvp import DependencyParser, SequenceTagger
from swvp.tracing import export_trace
from swvp.tracing.lessons import LESSONS


def test_a_label_is_explained_as_in_python(ask, model_folder):
    words = ["Ann", "Lee", "left"]
    table = SequenceTagger.load(model_folder / "names.swvp").explain(words, 1, 5)
    answer = ask("explain", model="names", tokens=words, word=2, top=5)
    assert [(each["feature"], each["value"]) for each in answer["contributions"]] == [row[3:] for row in table.rows]
    assert (answer["predicted"], answer["second"]) == table.rows[0][1:3]
    assert answer["shown"] == 5
    assert answer["features"] > 5


def test_a_head_is_explained_as_in_python(ask, model_folder):
    parser = DependencyParser.load(model_folder / "trees.swvp")
    words = [("the", "DET"), ("big", "ADJ"), ("dog", "NOUN"), ("barks", "VERB")]
    for word in range(1, 5):
        rows = parser.explain(words, word, 4).rows
        answer = ask("explain", model="trees", tokens=words, word=word, top=4)
        assert answer["predicted"] == rows[0][1] if rows else answer["contributions"] == []
        if answer["second"] is not None:
            assert [each["feature"] for each in answer["contributions"]] == [row[5] for row in rows]
            assert answer["for"]["head"] != answer["against"]["head"]


def test_a_pipeline_explains_the_head_that_it_predicts(ask):
    words = ["Ann", "sees", "Bob", "."]
    heads = [word["head"] for word in ask("analyze", tokens=[words])["sentences"][0]["words"]]
    assert [ask("explain", tokens=words, word=k)["for"]["head"] for k in (1, 2, 3, 4)] == heads


def test_a_lemma_comes_from_memory_or_from_features(ask):
    known = ask("explain", what="lemma", tokens=["The", "cats", "sleep"], word=1)
    assert (known["source"], known["contributions"]) == ("memory", [])
    new = ask("explain", what="lemma", tokens=["The", "zebras", "sleep"], word=2)
    assert new["source"] in ("model", "form")
    assert new["predicted"] == new["for"]["lemma"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tokens": [], "word": 1}, "tokens must be the words of a sentence"),
        ({"word": 1}, "tokens must be a list of sentences"),
        ({"tokens": ["a"]}, "word is missing: give a number from 1 to 1"),
        ({"tokens": ["a"], "word": 2}, "word must be a whole number from 1 to 1, not 2"),
        ({"tokens": ["a"], "word": 1, "what": "label"}, "unknown what 'label'"),
    ],
)
def test_a_wrong_question_gets_one_line(refused_request, given, message):
    status, error = refused_request("explain", **given)
    assert status == 400
    assert message in error


def test_a_lesson_is_the_training_that_the_library_exports(client):
    listed = client.get("/api/v1/lessons").json()
    assert [lesson["name"] for lesson in listed["lessons"]] == list(LESSONS)
    answer = client.get("/api/v1/lessons/two-dimensions?rules=csp,b-wm&beta=0.5&epochs=3").json()
    expected = export_trace(lesson="two-dimensions", rules=["csp", "b-wm"], beta=0.5, epochs=3)
    assert [(run["rule"], run["w"]) for run in answer["runs"]] == [(run["rule"], run["w"]) for run in expected["runs"]]


def test_all_rules_of_the_menu_can_be_traced(client):
    rules = client.get("/api/v1/lessons").json()["rules"]
    for rule in rules:
        assert client.get(f"/api/v1/lessons/figure-1?rules={rule}&epochs=2").status_code == 200, rule


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("nothing", 404),
        ("figure-1?beta=x", 400),
        ("figure-1?rules=wm", 400),
        ("figure-1?epochs=9999", 400),
        ("figure-1?x=1", 400),
    ],
)
def test_a_wrong_lesson_is_refused(client, path, status):
    response = client.get(f"/api/v1/lessons/{path}")
    assert (response.status_code, list(response.json())) == (status, ["error"])


def test_a_training_on_sentences_of_a_client(ask):
    column = ask("trace", kind="column", data="Ann PER\nleft O\n\nBo PER\nsaw O\nAnn PER\n\n", rules=["csp"])
    assert column["runs"][0]["updates"][0]["tokens"] == ["Ann", "left"]
    assert column["runs"][0]["truncated"] is False
    trees = ask(
        "trace", kind="conllu", data=DEV.read_text(encoding="utf-8")[:2000].rpartition("\n\n")[0] + "\n\n", updates=1
    )
    assert [(run["rule"], len(run["updates"]), run["truncated"]) for run in trees["runs"]] == [
        ("csp", 1, True),
        ("a-wm", 1, True),
    ]


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"data": "a X\n"}, 400),
        ({"kind": "column", "data": ""}, 400),
        ({"kind": "conllu", "data": "a\n"}, 400),
        ({"kind": "column", "data": "a X\n" * 41}, 413),
        ({"kind": "column", "data": "a X\n\n" * 31}, 413),
        ({"kind": "column", "data": "x" * 20_001}, 413),
        ({"kind": "column", "data": "a X\n", "rules": []}, 400),
        ({"kind": "column", "data": "a X\n", "rules": ["csp"] * 5}, 413),
    ],
)
def test_a_training_is_small(refused_request, given, status):
    assert refused_request("trace", **given)[0] == status
