"""A pipeline with all its stages, trained once on the treebank of the documentation."""

import pytest

from helpers.garden import DEV, TRAIN
from swvp import Pipeline


@pytest.fixture(scope="session")
def garden():
    return Pipeline.train(TRAIN, DEV, order=1, folds=2, n_jobs=1, parser={"epochs": 4, "hashed": 2**16})
