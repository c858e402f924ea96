"""The tagger that votes: its kernels equal the plain vote over weight vectors, written with the tagger itself."""

import copy
import itertools

import numpy as np
import pytest

from swvp import SequenceTagger
from swvp.errors import InputError
from swvp.io.container import read_container, write_container
from swvp.structures.chain.attributes import AttributeChain
from swvp.structures.chain.voting import chain_votes, vote_all

LABELS = ["A", "B", "C"]


def corpus(seed, sentences, longest=6):
    """Random sentences whose labels mostly follow from the words."""
    rng = np.random.default_rng([61, seed])
    X = [[f"w{word}" for word in rng.integers(12, size=rng.integers(1, longest + 1))] for _ in range(sentences)]
    y = [[LABELS[(int(word[1:]) + (rng.random() < 0.25)) % 3] for word in sentence] for sentence in X]
    return X, y


def vectors(tagger):
    """The weights after each round, as many times as they survived."""
    shape, moves = tagger.coef_.shape, tagger.transitions_.shape
    w = np.zeros(tagger.coef_.size + tagger.transitions_.size)
    h = tagger.hypotheses_
    for k, rounds in enumerate(h.survived):
        changed = slice(h.starts[k], h.starts[k + 1])
        w[h.features[changed]] = h.values[changed]
        for _ in range(rounds):
            yield w[: tagger.coef_.size].reshape(shape).copy(), w[tagger.coef_.size :].reshape(moves).copy()


def plain_vote(tagger, X):
    """Each round's weights put into a tagger without vote; its predictions counted."""
    voters = list(vectors(tagger))
    other = copy.copy(tagger).set_params(vote=False)
    ballots = []
    for other.coef_, other.transitions_ in voters:
        ballots.append([tuple(labels) for labels in other.predict(X)])
    winners = []
    for votes in zip(*ballots, strict=True):
        winners.append(max(votes, key=lambda label: (votes.count(label), -votes.index(label))))
    return winners


@pytest.mark.parametrize("options", [{"rule": "csp"}, {}, {"rule": "b-wm"}, {"rule": "mira:2"}, {"hashed": 7}])
def test_the_kernel_votes_as_the_plain_vote_does(options):
    tagger = SequenceTagger(vote=True, epochs=3, random_state=0, **options).fit(*corpus(1, 25))
    X, _ = corpus(2, 15)
    assert [tuple(labels) for labels in tagger.predict(X)] == plain_vote(tagger, X)


@pytest.mark.parametrize(
    ("survived", "winner"), [((0, 2, 3), 1), ((0, 3, 2), 0), ((0, 2, 2), 0), ((1, 2, 3), 0), ((0, 0, 1), 1)]
)
def test_the_kernel_gives_equal_votes_to_the_earliest_vector(survived, winner):
    """One attribute, two labels: w = 0 and the second vector are for label 0, the third for label 1."""
    one = np.array([0, 1])
    problem = AttributeChain(np.zeros(1, np.uint32), np.zeros(0), one, np.zeros(0, np.uint32), one)
    features, values = np.array([0, 1]), np.array([1.0, 2.0])  # w(a, 0) = 1, then w(a, 1) = 2
    votes = chain_votes(1, 2, np.array([0, 0, 1, 2]), features, values, np.array(survived))
    out = np.zeros(1, np.uint32)
    vote_all(problem, votes, np.zeros((3, 3)), out)
    assert out.tolist() == [winner]


def test_the_kernel_votes_with_a_constraint():
    def not_twice(previous, label):
        return previous != label

    X, y = corpus(3, 25)
    y = [[LABELS[k % 3] for k in range(len(labels))] for labels in y]
    tagger = SequenceTagger(vote=True, epochs=2, constraint=not_twice, random_state=0).fit(X, y)
    X, _ = corpus(4, 15)
    predicted = [tuple(labels) for labels in tagger.predict(X)]
    assert predicted == plain_vote(tagger, X)
    assert not any(a == b for labels in predicted for a, b in itertools.pairwise(labels))


def test_the_kernel_votes_with_values_of_features():
    rng = np.random.default_rng(62)
    X, y = corpus(5, 20)
    X = [[{"bias": 1.0, word: float(rng.normal())} for word in sentence] for sentence in X]
    tagger = SequenceTagger(vote=True, epochs=2, random_state=0).fit(X, y)
    assert [tuple(labels) for labels in tagger.predict(X)] == plain_vote(tagger, X)


def test_the_averaged_weights_are_the_mean_of_the_vectors():
    tagger = SequenceTagger(vote=True, average_power=1, epochs=2, random_state=0).fit(*corpus(6, 20))
    every = list(vectors(tagger))
    np.testing.assert_allclose(np.mean([w for w, _ in every], 0), tagger.coef_, atol=1e-12)
    np.testing.assert_allclose(np.mean([moves for _, moves in every], 0), tagger.transitions_, atol=1e-12)


def test_voting_changes_no_weights():
    voted, other = (SequenceTagger(vote=vote, epochs=3, random_state=0).fit(*corpus(7, 20)) for vote in (True, False))
    np.testing.assert_array_equal(voted.coef_, other.coef_)
    np.testing.assert_array_equal(voted.transitions_, other.transitions_)


def test_threads_vote_alike():
    tagger = SequenceTagger(vote=True, epochs=2, random_state=0).fit(*corpus(8, 20))
    X, _ = corpus(9, 11)
    one = tagger.predict(X).tolist()
    assert tagger.set_params(n_jobs=3).predict(X).tolist() == one


def test_an_empty_sentence_has_no_labels():
    tagger = SequenceTagger(vote=True, epochs=1, random_state=0).fit(*corpus(10, 10))
    assert tagger.predict([[], ["w1"], []]).tolist()[::2] == [[], []]


def test_with_development_data_the_vectors_up_to_the_best_epoch_vote():
    X, y = corpus(11, 30)
    tagger = SequenceTagger(vote=True, epochs=6, random_state=0).fit(X, y, dev=corpus(111, 40))
    assert tagger.best_epoch_ < 6
    assert tagger.hypotheses_.survived.sum() == 30 * tagger.best_epoch_


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"rule": "crf"}, "one weight vector"),
        ({"order": 2}, "order 1 and exact search"),
        ({"decoder": "beam"}, "order 1 and exact search"),
    ],
)
def test_what_cannot_vote_is_refused(options, reason):
    with pytest.raises(InputError, match=reason):
        SequenceTagger(vote=True, **options).fit(*corpus(13, 3))


def test_partial_fit_is_refused():
    with pytest.raises(InputError, match="partial_fit keeps no weight vectors to vote with"):
        SequenceTagger(vote=True).partial_fit(*corpus(14, 3))


def test_a_tagger_that_votes_cannot_be_saved_until_it_does_not(tmp_path):
    X, y = corpus(15, 10)
    tagger = SequenceTagger(vote=True, random_state=0).fit(X, y)
    with pytest.raises(InputError, match=r"a tagger that votes cannot be saved.*set vote=False first"):
        tagger.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
    tagger.set_params(vote=False).save(tmp_path / "model")
    assert SequenceTagger.load(tmp_path / "model").predict(X).tolist() == tagger.predict(X).tolist()


def test_a_tagger_fitted_without_vote_must_be_fitted_again():
    X, y = corpus(16, 5)
    tagger = SequenceTagger(random_state=0).fit(X, y).set_params(vote=True)
    with pytest.raises(InputError, match="fitted without vote: fit it again"):
        tagger.predict(X)


@pytest.mark.parametrize("vote", [True, "yes", None])
def test_a_file_that_says_it_votes_is_refused(tmp_path, vote):
    path = tmp_path / "model"
    SequenceTagger(epochs=1, random_state=0).fit(*corpus(17, 5)).save(path)
    kind, meta, arrays = read_container(path, "tagger")
    meta = {**meta, "options": {**meta["options"], "vote": vote}}
    write_container(path, kind, meta, dict(arrays))
    with pytest.raises(InputError, match="its vote cannot be right"):
        SequenceTagger.load(path)
