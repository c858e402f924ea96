"""Limits for long sentences, and the notes about them."""

from pathlib import Path

import pytest

from helpers.trees import conllu, toy
from swvp import DependencyParser
from swvp.parsing import analysis, second_order

X, Y = toy(0, 20)
NEW, NEW_Y = toy(1, 2)


@pytest.mark.parametrize(("size", "words"), [(1, 1), (271, 271), (272, 270), (2000, 5), (10**6, 1)])
def test_so_many_words_are_explained_at_once(size, words):
    assert analysis.words_explained(size) == words


def test_the_title_says_how_many_words_are_explained(monkeypatch):
    parser = DependencyParser(random_state=0, epochs=2, hashed=2**14, prune=False, labels=False).fit(X, Y)
    size = len(NEW[0])
    whole = parser.explain(NEW[0])
    assert "words)" not in whole.title
    monkeypatch.setattr(analysis, "MOST_STEPS", 2 * size**2)
    part = parser.explain(NEW[0])
    assert part.title == f"{whole.title} (the first 2 of {size} words)"
    assert part.rows == [row for row in whole.rows if row[0].split()[0] in ("1", "2")]
    assert parser.explain(NEW[0], word=size).title == whole.title


def test_a_bounded_search_is_noted_in_second_order(fine, monkeypatch):
    train = ["train", "parser", "train.conllu", "-m", "model", "--hashed", "16384", "--epochs", "1", "--no-labels"]
    Path("train.conllu").write_text(conllu(X, Y))
    Path("new.conllu").write_text(conllu(NEW, NEW_Y))
    monkeypatch.setattr("swvp.pipeline.most_words", lambda: len(NEW[0]) - 1)
    fine(*train)
    assert fine("predict", "model", "new.conllu")[1] == ""
    fine(*train, "--order", "2")
    _, err = fine("predict", "model", "new.conllu")
    assert "the search for the best tree may stop before it is found" in err
    assert len(err.splitlines()) == 1
    monkeypatch.setattr("swvp.pipeline.most_words", lambda: 200)
    assert fine("predict", "model", "new.conllu")[1] == ""


def test_other_trees_of_long_sentences_in_second_order_differ_nearby_only(monkeypatch):
    parser = DependencyParser(
        order=2, random_state=0, epochs=1, hashed=2**14, prune=False, labels=False, one_root=False
    ).fit(X, Y)
    sentence = [word for other in X[:3] for word in other]
    whole = parser.explain(sentence)
    monkeypatch.setattr(second_order, "LONG", 5)
    monkeypatch.setattr(second_order, "NEAR", 2)
    solved = []
    solve = second_order.SentenceSolver.solve

    def watch(self, choices):
        solved.append(choices)
        return solve(self, choices)

    monkeypatch.setattr(second_order.SentenceSolver, "solve", watch)
    nearby = parser.explain(sentence)
    assert nearby.title == f"{whole.title}, which differs within {second_order.NEAR} words"
    assert {row[0]: row[1] for row in nearby.rows} == {row[0]: row[1] for row in whole.rows}
    first, *others = solved
    assert len(others) == len(sentence)
    for m, choices in enumerate(others):
        assert all(len(heads) == 1 for k, heads in enumerate(choices) if abs(k - m) > 2)
        assert len(choices[m]) == len(first[m]) - 1
    wins = [{row[0]: row[3] for row in table.rows} for table in (whole, nearby)]
    assert all(wins[1][word] >= wins[0][word] - 1e-9 for word in wins[0])  # fewer trees to choose from
