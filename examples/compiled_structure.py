"""A compiled structure of your own: documents, their sentences, and a label for each of them.

The label of a document is its topic, y_0, followed by the topics of its sentences, y_1, …, y_n. With one word per
sentence as x_1, …, x_n, φ(x, y) counts the features

    (x_k, y_k)    a word and the topic of its sentence
    (y_0, y_k)    the topic of the document and that of a sentence

A structure is two NamedTuples of arrays, the examples and the model, and kernels that implement the operations of
`swvp.structures.operations` for them. The training loop, the rules, sub-structures and γ stay as they are.
"""

from typing import NamedTuple

import numpy as np

from swvp import as_rule
from swvp.structures import averaged, implement, kernel, operations, run_epochs

WORDS, TOPICS = 30, 3


class Documents(NamedTuple):
    """Documents; the sentences of document i are starts[i]:starts[i + 1].

    The labels of document i are its own and those of its sentences: labels[starts[i] + i:starts[i + 1] + i + 1].
    """

    words: np.ndarray
    labels: np.ndarray
    starts: np.ndarray


class DocumentModel(NamedTuple):
    """The weights, their averaging sums, and buffers for one document."""

    w_word: np.ndarray  # (x_k, y_k)
    w_pair: np.ndarray  # (y_0, y_k)
    sums_word: np.ndarray  # Σ (examples seen before)·(change of w), from which the average is made
    sums_pair: np.ndarray
    predicted: np.ndarray  # the last prediction
    mixed: np.ndarray  # a mixed assignment


def new_model(words, topics, longest):
    """A model with all weights 0, for documents of at most so many labels."""
    shapes = (words, topics), (topics, topics)
    weights, sums = ([np.zeros(shape) for shape in shapes] for _ in range(2))
    return DocumentModel(*weights, *sums, np.zeros(longest, np.int64), np.zeros(longest, np.int64))


# --- the operations that every structure implements


@implement(operations.longest, Documents)
@kernel
def longest(problem):
    most = 0
    for i in range(len(problem.starts) - 1):
        most = max(most, problem.starts[i + 1] - problem.starts[i] + 1)
    return most


@implement(operations.counts_features, Documents)
@kernel
def counts_features(problem):
    return True  # φ counts, so ties are exact


@implement(operations.find_mistakes, Documents)
@kernel
def find_mistakes(problem, model, i, wrong):
    """The best topics of the sentences for each topic of the document, then the best of these."""
    gold, words = gold_labels(problem, i), document_words(problem, i)
    best = -np.inf
    for topic in range(len(model.w_pair)):
        model.mixed[0], score = topic, 0.0
        for k in range(len(words)):
            scores = model.w_word[words[k]] + model.w_pair[topic]
            model.mixed[k + 1] = scores.argmax()
            score += scores[model.mixed[k + 1]]
        if score > best:
            best = score
            model.predicted[:] = model.mixed
    count = 0
    for k in range(len(gold)):
        if model.predicted[k] != gold[k]:
            wrong[count] = k
            count += 1
    return count


@implement(operations.margins, Documents)
@kernel
def margins(problem, model, i, starts, positions, count, out):
    gold = score_of(problem, model, i, gold_labels(problem, i))
    for j in range(count):
        out[j] = gold - score_of(problem, model, i, mix(problem, model, i, positions[starts[j] : starts[j + 1]]))


@implement(operations.add, Documents)
@kernel
def add(problem, model, i, starts, positions, sets, count, amounts, clock):
    for c in range(count):
        J = positions[starts[sets[c]] : starts[sets[c] + 1]]
        add_features(problem, model, i, gold_labels(problem, i), amounts[c], clock)
        add_features(problem, model, i, mix(problem, model, i, J), -amounts[c], clock)


@implement(operations.weights, DocumentModel)
def weights(model):
    return np.concatenate([model.w_word.ravel(), model.w_pair.ravel()])


@implement(operations.norm, DocumentModel)
def norm(model):
    return float(np.linalg.norm(weights(model)))


@implement(operations.averaged_weights, DocumentModel)
def averaged_weights(model, clock):
    return averaged(weights(model), np.concatenate([model.sums_word.ravel(), model.sums_pair.ravel()]), clock)


@implement(operations.labels, Documents)
def labels(problem, model, i):
    """The gold and the predicted label, for functions of a user's: `register_gamma`, `register_substructures`."""
    gold = gold_labels(problem, i)
    return gold, model.predicted[: len(gold)]


# --- what they share


@kernel
def gold_labels(problem, i):
    return problem.labels[problem.starts[i] + i : problem.starts[i + 1] + i + 1]


@kernel
def document_words(problem, i):
    return problem.words[problem.starts[i] : problem.starts[i + 1]]


@kernel
def mix(problem, model, i, J):
    """m^J: the prediction on J, the gold label elsewhere."""
    gold = gold_labels(problem, i)
    model.mixed[: len(gold)] = gold
    for k in J:
        model.mixed[k] = model.predicted[k]
    return model.mixed[: len(gold)]


@kernel
def score_of(problem, model, i, labels):
    """w·φ(x, y)."""
    words = document_words(problem, i)
    score = 0.0
    for k in range(len(words)):
        score += model.w_word[words[k], labels[k + 1]] + model.w_pair[labels[0], labels[k + 1]]
    return score


@kernel
def add_features(problem, model, i, labels, amount, clock):
    """w += amount · φ(x, y)."""
    words = document_words(problem, i)
    for k in range(len(words)):
        model.w_word[words[k], labels[k + 1]] += amount
        model.w_pair[labels[0], labels[k + 1]] += amount
        model.sums_word[words[k], labels[k + 1]] += amount * clock
        model.sums_pair[labels[0], labels[k + 1]] += amount * clock


def documents(count, rng, most=7):
    """Documents of 2 to `most` sentences, mostly about the topic of the document; each topic has its words."""
    words, labels, starts = [], [], [0]
    for _ in range(count):
        topic, size = rng.integers(TOPICS), rng.integers(2, most + 1)
        topics = np.where(rng.random(size) < 0.7, topic, rng.integers(TOPICS, size=size))
        words += (np.where(rng.random(size) < 0.5, TOPICS, topics) * 7 + rng.integers(7, size=size)).tolist()
        labels += [topic, *topics]
        starts.append(len(words))
    return Documents(np.array(words), np.array(labels), np.array(starts))


def accuracy(problem, model):
    """The share of right labels, of documents and of sentences."""
    wrong = np.zeros(len(model.predicted), np.int64)
    mistakes = sum(find_mistakes(problem, model, i, wrong) for i in range(len(problem.starts) - 1))
    return 1 - mistakes / len(problem.labels)


def main():
    rng = np.random.default_rng(0)
    train, test = documents(300, rng), documents(300, rng)
    for name in ("csp", "a-wm", "b-wmr:single+full"):
        model = new_model(WORDS, TOPICS, max(longest(train), longest(test)))
        for epoch in run_epochs(train, model, as_rule(name), examples=300, epochs=5):
            last = epoch
        print(f"{name:<20}{accuracy(test, model):>8.1%} of the labels right, {last.updates} updates in the last epoch")


if __name__ == "__main__":
    main()
