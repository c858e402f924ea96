"""One small training of each kind and one page: what the oldest supported dependencies have to do."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from helpers.trees import toy
from swvp import DependencyParser, SequenceTagger, StructuredPerceptron, theory
from swvp.studies import SyntheticSettings, run_synthetic, write_report

pytestmark = pytest.mark.smoke


class Bits:
    """Label each position with the bit that x has there."""

    def outputs(self, x):
        return list(itertools.product((0, 1), repeat=len(x)))

    def joint_feature(self, x, y):
        return np.array([a == b for a, b in zip(x, y, strict=True)], float)

    def argmax(self, x, w):
        return max(self.outputs(x), key=lambda y: float(w @ self.joint_feature(x, y)))


X, Y = [(0, 1), (1, 1), (1, 0)], [(0, 1), (1, 1), (1, 0)]


def test_a_structure_of_one_s_own_is_learnt_and_separated():
    assert StructuredPerceptron(Bits(), rule="a-wm", epochs=5).fit(X, Y).predict(X) == Y
    assert theory.update_bound(Bits(), X, Y, theory.separator(Bits(), X, Y)) > 0


def test_a_tagger_is_learnt_saved_and_loaded(tmp_path):
    X, y = [["the", "dog"], ["dogs", "bark"]] * 3, [["D", "N"], ["N", "V"]] * 3
    tagger = clone(SequenceTagger(random_state=0)).fit(X, y)
    tagger.save(tmp_path / "model")
    assert SequenceTagger.load(tmp_path / "model").predict(X).tolist() == tagger.predict(X).tolist() == y


def test_a_parser_is_learnt():
    X, y = toy(count=5)
    assert DependencyParser(epochs=5, random_state=0).fit(X, y).score(X, y) > 0.9


def test_a_study_makes_a_page(tmp_path):
    settings = SyntheticSettings(setups=(1,), datasets=1, sizes=(20, 10, 10), epochs=2, betas=(1.0,), rules=("a-wm",))
    page = write_report(run_synthetic(settings, tmp_path), tmp_path)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_command_line_answers():
    done = subprocess.run([sys.executable, "-m", "swvp", "--help"], capture_output=True, text=True, check=True)
    assert "experiment" in done.stdout
