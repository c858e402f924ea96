"""POST /api/v1/analyze: each kind of model, input and output; what is wrong is refused_request with one line."""

import json
import random
from pathlib import Path

import pytest

from helpers.garden import DEV
from swvp import DependencyParser, InputError, Pipeline, SequenceTagger
from swvp.serving.limits import Deadline, Limits
from swvp.serving.models import Models, model_files
from swvp.serving.queries import parsed_query

TEXT = "The old cat sleeps. Ann sees Bob."


def test_a_pipeline_answers_what_it_answers_in_python(ask, model_folder):
    expected = Pipeline.load(model_folder / "garden.swvp")(TEXT)
    sentences = ask("analyze", text=TEXT)["sentences"]
    assert [(s["id"], s["text"], s["start"], s["end"]) for s in sentences] == [
        (s.id, s.text, s.start, s.end) for s in expected.sentences
    ]
    for shown, sentence in zip(sentences, expected.sentences, strict=True):
        assert [tuple(word[name] for name in ("id", "form", "lemma", "upos", "head")) for word in shown["words"]] == [
            (word.id, word.form, word.lemma, word.upos, word.head) for word in sentence.words
        ]
        assert [TEXT[token["start"] : token["end"]] for token in shown["tokens"]] == [t.text for t in sentence.tokens]


def test_a_tagger_answers_what_it_answers_in_python(ask, model_folder):
    tagger = SequenceTagger.load(model_folder / "names.swvp")
    words = ["Ann", "Lee", "lives", "in", "Oslo", "."]
    answer = ask("analyze", model="names", text=" ".join(words))
    assert [word["label"] for word in answer["sentences"][0]["words"]] == tagger.predict([words])[0]


def test_a_parser_uses_the_tags_of_tokens_in_any_form(ask, model_folder):
    tree = DependencyParser.load(model_folder / "trees.swvp").predict(
        [[("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")]]
    )[0]
    as_lists = [["the", "DET"], ["dog", "NOUN"], ["barks", "VERB"]]
    as_objects = [{"form": form, "upos": upos} for form, upos in as_lists]
    for tokens in (as_lists, as_objects):
        words = ask("analyze", model="trees", tokens=[tokens])["sentences"][0]["words"]
        assert tuple(word["head"] for word in words) == tree.heads
        assert [word["upos"] for word in words] == ["DET", "NOUN", "VERB"]


def test_a_parser_without_its_tags_says_so(ask):
    assert ask("analyze", model="trees", text="the dog")["notes"] == [
        "no tags (UPOS), but the parser was trained with tags"
    ]


def test_conllu_comes_back_with_gold_beside_the_prediction(ask):
    answer = ask("analyze", conllu=DEV.read_text(encoding="utf-8"))
    first = answer["sentences"][0]
    assert [word["head"] for word in first["gold"]] == [3, 3, 4, 0, 6, 4, 4]
    assert [word["form"] for word in first["gold"]] == [word["form"] for word in first["words"]]
    assert first["text"] == "The old gardens painted the farmer."


def test_conllu_may_have_gaps_where_gold_is_missing(ask):
    word = ask("analyze", conllu="1\tcat\t_\t_\t_\t_\t_\t_\t_\t_\n\n")["sentences"][0]["gold"][0]
    assert (word["head"], word["deprel"], word["lemma"]) == (None, None, "_")


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("presegmented", "The cat sleeps.\nAnn sees Bob.\n"),
        ("horizontal", "The cat sleeps .\nAnn sees Bob .\n"),
        ("vertical", "The\ncat\nsleeps\n.\n\nAnn\nsees\nBob\n.\n\n"),
    ],
)
def test_texts_that_are_divided_already(ask, how, text):
    sentences = ask("analyze", text=text, input=how)["sentences"]
    assert [[word["form"] for word in s["words"]] for s in sentences] == [
        ["The", "cat", "sleeps", "."],
        ["Ann", "sees", "Bob", "."],
    ]


def test_k_gives_the_best_analyses_and_the_first_is_the_prediction(ask, model_folder):
    parser = Pipeline.load(model_folder / "garden.swvp").parts["trees"].parser
    sentence = ask("analyze", text=TEXT, k=3)["sentences"][0]
    best = sentence["alternatives"]
    assert best[0]["heads"] == [word["head"] for word in sentence["words"]]
    assert best[0]["deprels"] == [word["deprel"] for word in sentence["words"]]
    assert [each["score"] for each in best] == sorted((each["score"] for each in best), reverse=True)
    assert len(best) <= 3
    assert parser.labeller_ is not None
    labels = ask("analyze", model="names", text="Ann Lee", k=2)["sentences"][0]["alternatives"]
    assert [len(each["labels"]) for each in labels] == [2, 2]


@pytest.mark.parametrize("model", ["garden", "names", "trees"])
def test_confidence_is_a_probability_of_each_word(ask, model):
    words = ask("analyze", model=model, tokens=[["the", "cat", "sleeps"]], confidence=True)["sentences"][0]["words"]
    assert all(0 <= word["confidence"] <= 1 for word in words)
    assert "confidence" not in ask("analyze", model=model, tokens=[["the", "cat"]])["sentences"][0]["words"][0]


def test_a_batch_is_answered_text_by_text(ask):
    texts = ["The cat sleeps.", "", "Ann sees Bob."]
    results = ask("analyze", texts=texts)["results"]
    alone = [ask("analyze", text=text) for text in texts]
    assert [result["sentences"] for result in results] == [answer["sentences"] for answer in alone]


def test_outputs_are_those_of_the_library(ask, model_folder):
    document = Pipeline.load(model_folder / "garden.swvp")(TEXT)
    assert ask("analyze", text=TEXT, output="conllu")["result"] == document.to_conllu()
    assert ask("analyze", text=TEXT, output="displacy")["result"] == document.to_displacy()
    assert ask("analyze", text=TEXT, output="horizontal")["result"].splitlines()[1] == "Ann sees Bob ."
    assert ask("analyze", text=TEXT, output="vertical")["result"].startswith("The\nold\n")


def test_outputs_of_a_tagger_have_its_labels(ask):
    given = {"model": "names", "text": "Ann Lee lives in Oslo ."}
    labels = [word["label"] for word in ask("analyze", **given)["sentences"][0]["words"]]
    conllu = ask("analyze", **given, output="conllu")["result"]
    assert [line.split("\t")[9].split("|")[0] for line in conllu.splitlines() if "\t" in line] == [
        f"Label={label}" for label in labels
    ]
    assert ask("analyze", **given, output="vertical")["result"].splitlines()[0] == f"Ann\t{labels[0]}"
    drawn = ask("analyze", **given, output="displacy")["result"][0]
    assert {drawn["text"][ent["start"] : ent["end"]] for ent in drawn["ents"]} >= {"Ann Lee"}


def test_any_character_comes_back_as_it_was(ask):
    text = "<script>alert('x')</script> \u202e \0 𝒜 ד &amp;"
    answer = ask("analyze", model="names", text=text)
    sentence = answer["sentences"][0]
    assert [token["text"] for token in sentence["tokens"]] == text.split(" ")
    assert [word["form"] for word in sentence["words"]] == text.replace("\0", "\ufffd").split(" ")


def test_tokens_cannot_break_the_columns_of_a_file(ask):
    tokens = [[{"form": "a\tb", "upos": "X\nY"}]]
    line = ask("analyze", model="trees", tokens=tokens, output="conllu")["result"].splitlines()[-2]
    assert line.split("\t")[1:4] == ["a b", "_", "X Y"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give exactly one of text, tokens, conllu, texts, not none"),
        ({"text": "a", "tokens": [["a"]]}, "give exactly one of text, tokens, conllu, texts, not text and tokens"),
        ({"text": 1}, "text must be a string, not 1"),
        ({"text": "a", "modle": "x"}, "unknown field 'modle' (did you mean 'model'?)"),
        ({"text": "a", "k": 11}, "k must be a whole number from 1 to 10, not 11"),
        ({"text": "a", "k": True}, "k must be a whole number, not True"),
        ({"text": "a", "confidence": 1}, "confidence must be true or false, not 1"),
        ({"text": "a", "output": "xml"}, "unknown output 'xml'"),
        ({"tokens": ["a"]}, "tokens must be a list of sentences"),
        ({"tokens": [[" "]]}, "a token is empty"),
        ({"tokens": [[]]}, "a sentence without tokens"),
        ({"tokens": [[{"upos": "X"}]]}, "a token must be a string, a list of strings or an object with form"),
        ({"tokens": [["a"]], "input": "text"}, "input says how a text is divided, but tokens is given"),
        ({"conllu": "1\tcat\n"}, "conllu"),
        ({"conllu": ""}, "conllu: no sentence in it"),
        ({"text": "a", "model": "names", "input": "text"}, "the model has no tokenizer: input must be one of"),
    ],
)
def test_a_wrong_request_gets_one_line(refused_request, given, message):
    status, error = refused_request("analyze", **given)
    assert status == 400
    assert message in error
    assert "\n" not in error


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"\xff", b'{"text": "\\ud800"}', b"[" * 100_000, b'{"k": ' + b"9" * 10_000 + b"}"]
)
def test_a_body_that_is_no_json_object_is_refused(client, body):
    response = client.post("/api/v1/analyze", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert len(response.json()["error"]) < 300


def test_an_unknown_model_gets_the_names_of_the_others(refused_request):
    assert refused_request("analyze", model="nams", text="a") == (
        404,
        "no model 'nams' (did you mean 'names'?); there are: garden, names, trees",
    )


def test_errors_name_no_file_of_the_server(client, refused_request):
    answers = [
        refused_request("analyze", conllu="1\tcat\n")[1],
        refused_request("analyze", model="x", text="a")[1],
        client.get("/static/..%2fapp.py").text,
        client.get("/nothing").text,
    ]
    for text in answers:
        assert str(Path(__file__).parent.parent.parent) not in text
        assert "Traceback" not in text
        assert "site-packages" not in text


def test_answers_are_the_same_in_any_number_of_threads(client):
    from concurrent.futures import ThreadPoolExecutor

    requests = [
        {"model": model, "text": f"Ann sees {name} ."} for name in ("Bob", "Oslo") for model in ("garden", "names")
    ]

    def sentences(given):
        return json.dumps(client.post("/api/v1/analyze", json=given).json()["sentences"])

    alone = [sentences(given) for given in requests]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(sentences, requests * 10)) == alone * 10


def test_no_request_is_an_error_of_the_server(client):
    """Valid requests with random changes get an answer or one line, whatever is changed."""
    generator = random.Random(0)
    texts = ["", " ", "names", "\n\n", "a\tb", "1\ta\n", "a " * 50]
    values = [None, True, 0, -1, 1.5, 10**30, [], [[]], [["a"]], [[["a", "b"]]], {}, *texts]
    requests = {
        "analyze": {"model": "names", "text": "Ann left", "k": 2, "input": "horizontal", "output": "json"},
        "explain": {"model": "garden", "tokens": ["Ann", "left"], "word": 1, "what": "head", "top": 3},
        "trace": {"kind": "column", "data": "Ann X\nleft Y\n", "rules": ["csp"], "epochs": 2},
    }
    for _ in range(300):
        path = generator.choice(list(requests))
        given = dict(requests[path])
        for _ in range(generator.randint(1, 2)):
            given[generator.choice([*given, "conllu", "tokens", "texts", "confidence"])] = generator.choice(values)
        response = client.post(f"/api/v1/{path}", json=given)
        assert response.status_code in (200, 400, 404, 413), given
        assert response.status_code == 200 or list(response.json()) == ["error"]


def test_a_tagger_of_several_columns_names_the_missing_one_as_it_knows_it(tmp_path):
    tokens = [("Ann", "NNP"), ("left", "VBD")]
    SequenceTagger(epochs=1).fit([tokens], [["B-PER", "O"]]).save(tmp_path / "names.swvp")
    served = Models(model_files([str(tmp_path / "names.swvp")])).find(None)
    query = parsed_query({"text": "Ann left"}, Limits())
    with pytest.raises(InputError, match="uses the columns word, pos, and pos is missing"):
        list(served.analyse(query, Limits(), Deadline(10.0)))
