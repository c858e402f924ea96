"""A server with one model of each kind, in this process, and its client."""

import pytest

from helpers.garden import DEV, FOLDER, TRAIN
from swvp import DependencyParser, Pipeline
from swvp.io.table import read_table
from swvp.serving.models import Models, model_files
from swvp.tagging.files import layout_of, read_corpus
from swvp.tagging.tagger import Tagger


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory):
    """A folder with garden.swvp (a pipeline), names.swvp (a tagger) and trees.swvp (a parser)."""
    folder = tmp_path_factory.mktemp("models")
    garden = Pipeline.train(TRAIN, DEV, folds=2, n_jobs=1, parser={"epochs": 4, "hashed": 2**16})
    garden.save(folder / "garden.swvp")
    table = read_table(FOLDER / "names-train.txt")
    layout, tagger = layout_of(table, None, None), Tagger(random_state=0, epochs=3)
    tagger.use_layout(layout)
    training = tagger.start(read_corpus(table, layout, labelled=True))
    training.run(3)
    tagger.finish(training).save(folder / "names.swvp")
    DependencyParser(random_state=0, epochs=3, hashed=2**16).fit(FOLDER / "toy-train.conllu").save(
        folder / "trees.swvp"
    )
    return folder


@pytest.fixture(scope="session")
def model_paths(model_folder):
    return [str(model_folder / f"{name}.swvp") for name in ("garden", "names", "trees")]


@pytest.fixture(scope="session")
def models(model_paths):
    return Models(model_files(model_paths), {"": ["Ann sleeps."]})


@pytest.fixture(scope="session")
def client(models):
    pytest.importorskip("starlette", reason="needs what a server needs: pip install 'swvp[serve]'")
    from starlette.testclient import TestClient

    from swvp.serving.app import create_app

    return TestClient(create_app(models, log=None))


@pytest.fixture
def ask(client):
    """Post to the API: the answer, which must be a success."""

    def post(path, **given):
        response = client.post(f"/api/v1/{path}", json=given)
        assert response.status_code == 200, response.text
        return response.json()

    return post


@pytest.fixture
def refused_request(client):
    """Post something that the API refuses: (status, message)."""

    def post(path, **given):
        response = client.post(f"/api/v1/{path}", json=given)
        assert response.status_code >= 400
        assert list(response.json()) == ["error"]
        return response.status_code, response.json()["error"]

    return post
