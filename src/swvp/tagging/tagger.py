"""The tagger: options in, sentences to labels.

`swvp.SequenceTagger` is the same class for scikit-learn. The command line does without scikit-learn, which takes a
second and 70 MB to import.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.features.encoder import TemplateEncoder
from swvp.features.templates import PRESETS, parse_templates, with_clusters
from swvp.io.model_files import Memory
from swvp.learning.perceptron import generator
from swvp.learning.voting import Hypotheses
from swvp.structures.chain.attributes import NO_IMPORTANCE, AttributeChain
from swvp.structures.chain.growing import GrowingModel
from swvp.structures.chain.rows import Rows, WeightRows
from swvp.tagging.corpus import (
    Corpus,
    Development,
    Encoder,
    Labels,
    Sentences,
    chain_of,
    check_pairs,
    corpus_of,
    extended_labels,
    fit_chain,
    gold_numbers,
)
from swvp.tagging.crf import LikelihoodTraining
from swvp.tagging.decoder import (
    ROW_STARTS,
    Decoder,
    barrier,
    check_allowed,
    decoder_of,
    learn_rows,
    matrix,
    number_of_candidates,
    recorder_of,
    repaired,
    rows_of,
    vote_ids,
)
from swvp.tagging.files import Layout
from swvp.tagging.growing import GrowingTraining, as_rows
from swvp.tagging.inspection import TaggerInspection
from swvp.tagging.options import TaggerOptions, choose, keeps_to
from swvp.tagging.persistence import load_tagger, save_tagger
from swvp.tagging.ready import FeatureEncoder
from swvp.tagging.tracing import TaggerTracing
from swvp.training.observer import EpochCallback
from swvp.training.options import in_shares, lines_of, not_fitted
from swvp.training.session import Session, check_resumable
from swvp.training.training import SUMS, Training, Watch, Weights, as_given, weight_names
from swvp.types import Floats

__all__ = ["Tagger"]


class Tagger(TaggerOptions, TaggerInspection, TaggerTracing):
    """What `swvp.SequenceTagger` documents, without scikit-learn."""

    classes_: list[Any]
    kind_: str
    columns_: list[str]
    encoder_: Encoder
    n_attributes_: int
    candidates_: int = 0  # 0: all labels, and dense weights
    _rows: Rows | None = None
    _weight_rows: WeightRows | None = None  # coef_, as long as nobody has asked for it
    barrier_: Floats
    transitions_: Floats
    triples_: Floats | None
    layout_: Layout | None
    hypotheses_: Hypotheses | None
    _training: Training | None

    def fit(
        self,
        X: Sentences,
        y: Sequence[Sequence[Any]],
        *,
        sample_weight: Sequence[float] | None = None,
        dev: tuple[Sentences, Sequence[Sequence[Any]]] | None = None,
        watch: Watch | None = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from sentences and the labels of their tokens.

        Parameters
        ----------
        X : list of sentences
            Each is a list of tokens.
        y : list of lists
            The label of each token.
        sample_weight : sequence of float, optional
            A weight ≥ 0 of each sentence, which multiplies its updates (C, with the step "mira"). By default 1.
        dev : (X, y), optional
            A dev set. The weights are then those of the epoch with the best dev score: F1 if the labels are those of
            phrases, else accuracy.
        watch : function, optional
            Called after each epoch with a `Progress`: `epoch`, `score` on the dev set, `best`.
        checkpoint : path, optional
            File in which the state of the training is saved every 10 seconds, and when it is interrupted (Ctrl-C,
            or KeyboardInterrupt from `watch`). `fit` with the same data and options resumes from it, to the same
            weights as without the interruption. It is removed when training is over.

        Returns
        -------
        self
        """
        if y is None:
            raise InputError("y is None: give the labels of each sentence")
        if watch is not None and not callable(watch):
            raise InputError(f"watch must be a function, not {watch!r}")
        self.layout_ = None
        corpus = corpus_of(X, y, self.columns)
        names = None if corpus.columns is None else corpus.columns.names
        dev_corpus = None if dev is None else corpus_of(*dev, names, corpus.kind)
        with Session(checkpoint, observers=[] if watch is None else [EpochCallback(watch)]) as session:
            training = self.start(corpus, dev_corpus, importance=importance_of(sample_weight, len(X)), grows=True)
            check_resumable(training, checkpoint)
            session.train(self, training, [corpus] if dev_corpus is None else [corpus, dev_corpus])
            self.finish(training)
            session.remove_checkpoints()
        return self

    def partial_fit(self, X: Sentences, y: Sequence[Sequence[Any]], classes: Sequence[Any] | None = None) -> Self:
        """Learn from one more batch of sentences, in one epoch.

        New words, attributes and labels are added to the known ones. The first call after `fit` or `load` starts from
        the weights used to predict; later calls continue the training, and weights are averaged over all batches.

        Parameters
        ----------
        X : list of sentences
        y : list of lists
            The label of each token.
        classes : sequence, optional
            Labels that will come in later batches. They need not be given.

        Returns
        -------
        self
        """
        if self.rule == "crf":
            raise InputError("rule 'crf' looks at all data at once: it has no partial_fit")
        if self.vote:
            raise InputError("partial_fit keeps no weight vectors to vote with: use fit, or leave out vote")
        fitted = self._is_fitted()
        corpus = corpus_of(X, y, self.columns_ if fitted and self.kind_ != "features" else self.columns)
        previous: Training | None = self.__dict__.get("_training")
        training = self.start(corpus, extend=True, classes=classes or ())
        if previous is not None:
            training.continue_from(previous)
        history = list(self.history_) if fitted else []
        training.run(1)
        self._set_weights(training.weights())
        epoch = dataclasses.replace(training.history[0], epoch=len(history) + 1)
        self.history_, self.dev_scores_, self.best_epoch_ = [*history, epoch], [], len(history) + 1
        self._training = training
        return self

    def predict(self, X: Sentences) -> NDArray[np.object_]:
        """Return the labels of each sentence: an array of lists."""
        self._check_fitted()
        problem = self._encode(self._corpus(X))
        names = np.array([*self.classes_, None], object)[self._best_ids(problem)].tolist()
        result = np.empty(len(X), object)
        for i, (a, b) in enumerate(zip(problem.offsets, problem.offsets[1:], strict=False)):
            result[i] = names[a:b]
        return result

    def predict_single(self, sentence: Sequence[Any]) -> list[Any]:
        """Return the labels of one sentence."""
        return self.predict([sentence])[0]  # type: ignore[no-any-return]

    def predict_labels(self, corpus: Corpus) -> Labels:
        """Return the labels of a corpus as numbers into `classes_`."""
        self._check_fitted()
        return Labels(self.classes_, self._best_ids(self._encode(corpus)).astype(np.int32))

    def score(self, X: Sentences, y: Sequence[Sequence[Any]]) -> float:
        """Return the accuracy: the share of tokens with the right label."""
        check_pairs(X, y)
        pairs = zip(y, self.predict(X), strict=True)
        right = [a == b for gold, guess in pairs for a, b in zip(gold, guess, strict=True)]
        return float(np.mean(right)) if right else 1.0

    def save(self, path: str | Path) -> None:
        """Write the fitted tagger to one file, whole or not at all. It contains no code, so no user's functions."""
        self._check_fitted()
        save_tagger(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a tagger that `save` wrote; safe with files from anyone."""
        return load_tagger(Path(path), cls)  # type: ignore[no-any-return]

    def restore(self, meta: dict[str, Any], **fitted: Any) -> None:
        """Set the attributes of a fitted tagger and the history, as a model file has them."""
        vars(self).update(fitted)
        self._restore_history(meta)

    def restore_weights(self, weights: Any, temperature: float) -> None:
        """Set the weights of the attributes and the temperature that was fitted for them.

        The weights are `WeightRows`, an array (attribute, label) or, with candidates, a sparse matrix.
        """
        self._rows = rows_of(weights) if self.candidates_ else None
        if isinstance(weights, WeightRows):
            self._weight_rows = weights
        else:
            self.coef_ = weights
        self.temperature_ = temperature

    # ---------------------------------------------------------------- training, step by step

    def forget_unused_attributes(self) -> None:
        """Forget the attributes that have no weights, half of all or more: predictions stay the same."""
        rows, encoder = self._present_rows(), self.encoder_
        if rows is None or not isinstance(encoder, TemplateEncoder) or encoder.hashed is not None:
            return
        sizes = np.diff(rows.starts)
        if sizes.any():
            encoder.keep(sizes > 0)
            starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])])
            self._weight_rows, self.n_attributes_ = rows._replace(starts=starts), encoder.size
            assert len(self.coef_) == encoder.size  # made here, before threads use it

    def use_layout(self, layout: Layout) -> None:
        """Learn from files with these columns: they are saved with the model, which then reads such files."""
        self.columns, self.layout_ = list(layout.names), layout

    def start(
        self,
        corpus: Corpus,
        dev: Corpus | None = None,
        *,
        extend: bool = False,
        classes: Sequence[Any] = (),
        importance: Floats = NO_IMPORTANCE,
        grows: bool = False,
    ) -> Training:
        """Return a new training on a corpus, to be run; `finish` takes its weights.

        With `extend` it starts from the present weights, if there are any, and adds labels and attributes to the known
        ones. `classes` are labels that may be missing in the corpus. `importance` are weights of the sentences.
        If it `grows`, the training has only those weights in memory that have changed, if there can be such a training.
        """
        rule = self.check()
        if len(importance) and (self.rule == "crf" or not self._decoder_options().plain):
            raise InputError("sample_weight is for order 1, exact search and other rules than crf: leave it out")
        if corpus.labels is None or not corpus.tokens:
            raise InputError("no tokens to learn from")
        in_batches, extend = extend, extend and self._is_fitted()
        if extend and corpus.kind != self.kind_:
            raise InputError(f"the tagger was trained on {self.kind_}, but the input has {corpus.kind}")
        self._choose(corpus, extend)
        constraint = self._constraint()
        corpus = repaired(constraint, corpus)
        assert corpus.labels is not None
        known = self.classes_ if extend else []
        names = extended_labels(known, [*corpus.labels.names, *classes])
        gold = gold_numbers(corpus, names).astype(np.uint32)
        bars = barrier(constraint, names)
        check_allowed(bars, names, gold, corpus.offsets, corpus.place, constraint)
        decoder = decoder_of(self.decoder, bars, self.order, self.width, self.fix)
        weights = self._training_weights() if extend else {}
        sparse = not in_batches and not self._needs_dense(rule, decoder)
        self.candidates_, self._rows = number_of_candidates(self.candidates, len(names)) if sparse else 0, None
        for name in ("coef_", "_weight_rows", "transitions_", "triples_"):  # old weights do not fit the new attributes
            self.__dict__.pop(name, None)
        self.classes_, self.barrier_ = names, bars
        chain = self._fit_encoder(corpus, extend)._replace(y=gold, importance=importance)
        if self.candidates_:
            decoder = decoder._replace(candidates=self.candidates_)
            self._rows = learn_rows(chain, decoder, rule, self._for_rule, self.n_attributes_)
            decoder = decoder._replace(rows=self._rows)
        elif grows and not (in_batches or self.vote or self.rule == "crf"):
            decoder = decoder._replace(grows=True)
        problem = decoder.problem(chain)
        longest = int(np.diff(corpus.offsets).max())
        model = decoder.extended_model(weights, len(known), self.n_attributes_, longest)
        options: dict[str, Any] = {
            "kind": "tagger",
            "examples": len(corpus.offsets) - 1,
            "average": self.average,
            "for_rule": as_given if self.rule == "crf" else self._for_rule,
            "orders": generator(self.random_state),
            "dev": None if dev is None else self._development(dev),
        }
        if self.rule == "crf":
            return LikelihoodTraining(problem, model, rule, l2=self.l2, n_jobs=self.n_jobs, **options)
        if isinstance(model, GrowingModel):
            return GrowingTraining(problem, model, rule, **options)
        recorder = recorder_of(problem, model) if self.vote else None
        return Training(problem, model, rule, recorder=recorder, **options)

    def finish(self, training: Training) -> Self:
        """Take the weights and the history of a training that has run."""
        self._set_weights(training.result())
        self._take_history(training)
        self._training = None
        rounds = training.best_epoch * training.examples
        self.hypotheses_ = None if training.recorder is None else training.recorder.hypotheses().until(rounds)
        return self

    def _choose(self, corpus: Corpus, extend: bool) -> None:
        """Choose features and constraint if the user gave none.

        A later batch changes one thing: a chosen constraint that its labels break is dropped.
        """
        features = self.features is None and corpus.columns is not None and not extend
        auto = self._auto_constraint()
        if not (extend and hasattr(self, "chosen_")):
            self.chosen_ = choose(corpus, features=features, constraint=auto, score=score_on)
        elif auto and self.chosen_.constraint is not None and not keeps_to(self.chosen_.constraint, corpus):
            self.chosen_ = self.chosen_._replace(constraint=None)

    def _fit_encoder(self, corpus: Corpus, extend: bool) -> AttributeChain:
        """Number the attributes of a corpus, after the known ones if `extend`; return the corpus encoded."""
        self.kind_ = corpus.kind
        if corpus.columns is None:
            if self.features is not None:
                raise InputError("X holds ready features: leave out the parameter features, or give tokens")
            if self.hashed is not None:
                raise InputError("X holds ready features: hashed is for templates")
            if self.clusters is not None:
                raise InputError("X holds ready features: clusters are for templates")
        else:
            self.columns_ = list(corpus.columns.names)
        if not extend:
            self.encoder_ = FeatureEncoder() if corpus.columns is None else self._new_encoder()
        chain = fit_chain(self.encoder_, corpus, self.minimum_count)
        self.n_attributes_ = self.encoder_.size
        return chain

    def _new_encoder(self) -> TemplateEncoder:
        features = self.chosen_.features if self.features is None else self.features
        assert features is not None
        templates = parse_templates(lines_of(features, PRESETS), self.columns_)
        if self.clusters is None:
            return TemplateEncoder(templates, self.hashed)
        return TemplateEncoder(with_clusters(templates, self.columns_), self.hashed, self.clusters)

    def _development(self, dev: Corpus) -> Development:
        if dev.labels is None:
            raise InputError("the dev set has no labels")
        problem, names = self._encode(dev), list(self.classes_)
        gold = gold_numbers(dev, names)
        return Development(lambda weights: self._predict_ids(problem, weights), gold, dev.offsets, names)

    # ---------------------------------------------------------------- weights

    @cached_property
    def coef_(self) -> Any:
        """The weights of all attributes and labels; made when they are first asked for, because most of them are 0."""
        rows = self._weight_rows
        if rows is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute 'coef_'")
        attributes, labels, values = rows.nonzero()
        shape = (self.n_attributes_, len(self.classes_))
        weights = Memory().filled(shape, attributes * shape[1] + labels, values)
        self._weight_rows = None
        return weights

    def _present_rows(self) -> WeightRows | None:
        """The weights as rows, unless somebody has asked for `coef_`, which may have been changed since."""
        fitted = vars(self)
        return None if "coef_" in fitted else fitted.get("_weight_rows")

    def _is_fitted(self) -> bool:
        return "coef_" in vars(self) or self._present_rows() is not None

    def stored_weights(self) -> Any:
        """The weights of attributes: `WeightRows`, an array (attribute, label) or a sparse matrix."""
        rows = self._present_rows()
        return self.coef_ if rows is None else rows

    def _set_weights(self, weights: Weights) -> None:
        self.transitions_, self.triples_ = weights["w_move"], weights.get("w_triple")
        if ROW_STARTS in weights:
            self._weight_rows = as_rows(weights)
            return
        self.coef_ = weights["w"]
        if self._rows is not None:
            self.coef_ = matrix(self._rows, self.coef_, len(self.classes_))
            self._rows = rows_of(self.coef_)

    def _weights(self) -> Weights:
        """The weights that predict."""
        weights = {"w": self.coef_ if self._rows is None else self.coef_.data, "w_move": self.transitions_}
        if self.triples_ is not None and not self._decoder().plain:
            weights["w_triple"] = self.triples_
        return weights

    def _training_weights(self) -> Weights:
        """The weights to start the next batch from, with their averaging sums after `partial_fit`."""
        self._check_fitted()
        training = self.__dict__.get("_training")
        if training is None:
            return self._weights() if self._rows is None else {**self._weights(), "w": self.coef_.toarray()}
        names = weight_names(training.model)
        return {part: getattr(training.model, part) for name in names for part in (name, SUMS[name])}

    # ---------------------------------------------------------------- prediction

    def _decoder(self) -> Decoder:
        decoder = decoder_of(self.decoder, self.barrier_, self.order, self.width, self.fix)
        return decoder._replace(rows=self._rows, candidates=self.candidates_)

    def _corpus(self, X: Sentences) -> Corpus:
        return corpus_of(X, None, getattr(self, "columns_", None), self.kind_)

    def _encode(self, corpus: Corpus) -> AttributeChain:
        if corpus.tokens and corpus.kind != self.kind_:
            raise InputError(f"the tagger was trained on {self.kind_}, but the input has {corpus.kind}")
        return chain_of(self.encoder_, corpus)

    def _best_ids(self, problem: AttributeChain) -> NDArray[np.uint32]:
        """The predicted labels as numbers: by vote, or the best ones under the weights."""
        if not self.vote:
            return self._predict_ids(problem, self._weights())
        hypotheses: Hypotheses | None = self.__dict__.get("hypotheses_")
        if hypotheses is None:
            raise InputError("the tagger was fitted without vote: fit it again")
        return vote_ids(problem, hypotheses, self.n_attributes_, self.barrier_, self.n_jobs)

    def _predict_ids(self, problem: AttributeChain, weights: Weights) -> NDArray[np.uint32]:
        """The best labels under these weights, as numbers, in `n_jobs` threads."""
        out, decoder = np.empty(len(problem.starts) - 1, np.uint32), self._decoder()

        def predict(first: int, end: int) -> None:
            decoder.predict(problem._replace(offsets=problem.offsets[first : end + 1]), weights, out)

        in_shares(predict, len(problem.offsets) - 1, self.n_jobs)
        return out

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            raise not_fitted("SequenceTagger")
        fitted = 1 if self.triples_ is None or not self.triples_.size else 2
        if self.order in (1, 2) and self.order != fitted:
            raise InputError(f"the tagger was fitted with order {fitted}, not {self.order}: fit it again")


def importance_of(sample_weight: Sequence[float] | None, sentences: int) -> Floats:
    """The weights of sentences as an array; InputError unless they are one number ≥ 0 for each."""
    if sample_weight is None:
        return NO_IMPORTANCE
    try:
        weights = np.asarray(sample_weight, float)
    except (TypeError, ValueError):
        weights = np.zeros(0)
    if weights.shape != (sentences,) or not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InputError(f"sample_weight must be one number of at least 0 for each of the {sentences} sentences")
    return weights


def score_on(features: str, train: Corpus, dev: Corpus) -> float:
    """The dev score of the default rule with these features, after a few epochs."""
    tagger = Tagger(features=features, constraint=None, epochs=5, random_state=0)
    training = tagger.start(train, dev)
    training.run(tagger.epochs)
    return max(training.scores)
