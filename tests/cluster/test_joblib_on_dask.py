"""scikit-learn's searches over our estimators run on Dask through joblib."""

import os
import signal
import threading

import joblib
import pytest
from sklearn.model_selection import GridSearchCV

from swvp import SequenceTagger

SENTENCES = [
    (["Ann", "saw", "Bo"], ["B-PER", "O", "B-PER"]),
    (["Bo", "Lee", "left"], ["B-PER", "I-PER", "O"]),
    (["they", "saw", "Ann", "Lee"], ["O", "O", "B-PER", "I-PER"]),
]


@pytest.fixture
def client(cluster):
    """A client of the cluster that is the default, which joblib uses."""
    from distributed import Client

    with Client(cluster.address, security=cluster._local.security) as opened:
        yield opened


def search():
    X, y = map(list, zip(*SENTENCES * 4, strict=True))
    grid = {"rule": ["csp", "a-wm"], "beta": [0.5, 2.0]}
    return GridSearchCV(SequenceTagger(epochs=2, random_state=0), grid, cv=2).fit(X, y)


def test_a_grid_search_on_dask_has_the_scores_of_one_here(client):
    with joblib.parallel_config("dask"):
        there = search()
    here = search()
    assert there.cv_results_["mean_test_score"].tolist() == here.cv_results_["mean_test_score"].tolist()
    assert there.best_params_ == here.best_params_


def test_a_grid_search_survives_a_killed_worker(client, processes):
    timer = threading.Timer(0.1, os.kill, (processes()[0], signal.SIGKILL))
    with joblib.parallel_config("dask"):
        timer.start()
        there = search()
    timer.join()
    assert there.cv_results_["mean_test_score"].tolist() == search().cv_results_["mean_test_score"].tolist()
