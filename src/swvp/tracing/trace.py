"""Training that shows its updates: Algorithm 2 in plain Python, one example at a time.

`sweep` runs as plain Python with a rule that records what it is asked for: the sub-structures, γ, the update. The
operations of the structure are those of every training. So mistakes, updates and weights are the same. What is shown
besides (words, names of features) comes from a `Subject`; `PythonSubject` is that of structures of users.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from swvp.compiled import implement, implements, in_python
from swvp.errors import InputError
from swvp.io.files import write_bytes
from swvp.learning.epoch import CONDITION_2_FAILURES, COUNTS, EXCLUDED, MISTAKES, UPDATES, Epoch
from swvp.learning.perceptron import check_rule, generator, new_state, prepare, sweep, too_many_substructures
from swvp.learning.python_rule import PythonRule, define_substructures_python, set_gamma_python
from swvp.learning.rule import STEPS, UpdateRule
from swvp.learning.rule_kernels import define_substructures, set_gamma
from swvp.learning.step import update, update_python
from swvp.structures.generic import Label, PythonModel, PythonProblem, mixed_assignment
from swvp.structures.operations import averaged_weights, direction, labels, margins, norm, reach, weights
from swvp.tables import check_count
from swvp.tracing.update import MixedAssignment, Scores, Update, WeightChange
from swvp.types import Floats, Ints

__all__ = ["PythonSubject", "PythonTracing", "Subject", "Trace", "check_traceable"]

ADA = STEPS.index("ada")


class Subject(Protocol):
    """What a trace shows besides what the operations of a structure tell: words, names, scores of whole labels."""

    structure: str
    """As `Update.structure`."""

    def tokens(self, i: int) -> Sequence[str]:
        """The words of example i; none if they are not known."""

    def readable(self, label: Any) -> Sequence[Any]:
        """A label of `operations.labels` as users know it."""

    def score(self, i: int, label: Any) -> float:
        """w·φ(x, label) of example i under the present weights."""

    def values(self, features: Ints) -> Floats:
        """The present weights of features."""

    def names(self, i: int, features: Sequence[int], wrong: Sequence[int]) -> list[str]:
        """The names of features that an update of example i changed; `wrong` are its wrong positions."""


@dataclass
class Record:
    """What happened to one example."""

    subject: Subject
    sets: list[tuple[int, ...]] = field(default_factory=list)
    wrong: tuple[int, ...] = ()
    gold: Any = ()
    predicted: Any = ()
    margin: Floats = field(default_factory=lambda: np.zeros(0))
    zero: float | None = None
    before: Scores = field(default_factory=lambda: Scores(0.0, 0.0))
    terms: dict[int, float] = field(default_factory=dict)
    amounts: dict[int, float] = field(default_factory=dict)
    back_off: float | None = None
    back_off_violates: bool = True
    features: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def scores(self, i: int) -> Scores:
        return Scores(self.subject.score(i, self.gold), self.subject.score(i, self.predicted))


@dataclass(frozen=True)
class RecordingRule(PythonRule):
    """A rule that records what the algorithm asks it for one example."""

    record: Record


@implement(define_substructures, RecordingRule)
def define_and_record(
    rule: RecordingRule, problem: Any, model: Any, i: int, wrong: Ints, k: int, starts: Ints, positions: Ints
) -> tuple[int, Ints, Ints]:
    count, starts, positions = define_substructures_python(rule, problem, model, i, wrong, k, starts, positions)
    record = rule.record
    record.sets = [tuple(positions[starts[j] : starts[j + 1]].tolist()) for j in range(count)]
    record.wrong = tuple(wrong[:k].tolist())
    gold, predicted = labels(problem, model, i)
    record.gold, record.predicted = gold, predicted.copy() if isinstance(predicted, np.ndarray) else predicted
    record.margin = np.empty(max(count, 0))
    margins(problem, model, i, starts, positions, count, record.margin)
    record.before = record.scores(i)
    return count, starts, positions


@implement(set_gamma, RecordingRule)
def set_gamma_and_record(rule: RecordingRule, margin: Floats, n: int, right: int, zero: float, gamma: Floats) -> None:
    set_gamma_python(rule, margin, n, right, zero, gamma)
    rule.record.zero = zero


@implement(update, RecordingRule)
def update_and_record(
    rule: RecordingRule,
    problem: Any,
    model: Any,
    i: int,
    starts: Ints,
    positions: Ints,
    sets: Ints,
    count: int,
    gamma: Floats,
    margin: Floats,
    used: int,
    k: int,
    clock: float,
) -> bool:
    record, weighed = rule.record, gamma[:count].copy()
    if used == 0:
        whole = np.empty(1)
        margins(problem, model, i, starts, positions, 1, whole)
        record.back_off = float(whole[0])
        record.back_off_violates = not rule.literal or whole[0] <= 0
    changed = update_python(rule, problem, model, i, starts, positions, sets, count, gamma, margin, used, k, clock)
    numbers = sets[:count].tolist()
    record.terms = dict(zip(numbers, weighed.tolist(), strict=True))
    if rule.step != ADA:
        record.amounts = (
            dict.fromkeys(numbers, 0.0) if not changed else dict(zip(numbers, gamma.tolist(), strict=False))
        )
    if changed:  # after the update, so that new features have their slots
        size, features, _ = direction(problem, model, i, starts, positions, sets, count, gamma)
        record.features = np.unique(features[:size])
    return changed


class Trace(Iterator[Update]):
    """A training as an iterator over its mistakes, each an `Update`; the methods `trace` of the learners return it.

    It trains as it is iterated, from weights of 0, and leaves the learner as it is.

    Parameters
    ----------
    problem, model
        The examples and the model of a structure (see `swvp.structures.operations`).
    rule : UpdateRule
        The update rule; an attribute.
    subject : Subject
        Words, names and scores for people.
    examples : int
        The number of examples.
    epochs : int
        The largest number of epochs. Training stops earlier, after an epoch without a mistake.
    orders : Generator or None
        Source of a new random order in each epoch; None: the examples stay in their order.
    power : float
        That of averaging.
    features : int
        How many of the weights that changed most an update names.

    Attributes
    ----------
    history : list of Epoch
        The counts of the finished epochs, as `history_` of a learner; their times are 0.

    Examples
    --------
    >>> from swvp import SequenceTagger
    >>> X, y = [["the", "dog", "barks"], ["dogs", "bark"]], [["DET", "NOUN", "VERB"], ["NOUN", "VERB"]]
    >>> first = next(SequenceTagger(rule="a-wm", random_state=0).trace(X, y))
    >>> first.wrong_positions, first.back_off is None  # w = 0: no margin to weigh, so a back-off to CSP
    ((1, 2), False)
    """

    def __init__(
        self,
        problem: Any,
        model: Any,
        rule: UpdateRule,
        subject: Subject,
        *,
        examples: int,
        epochs: int,
        orders: np.random.Generator | None,
        power: float = 1.0,
        features: int = 10,
    ):
        check_count("epochs", epochs, 1)
        check_count("features", features)
        check_traceable(rule, type(problem))
        check_rule(rule, problem)
        self.rule, self.history = rule, list[Epoch]()
        self._problem, self._model, self._subject = problem, model, subject
        self.examples = examples
        self._examples, self._epochs, self._orders, self._power = examples, epochs, orders, power
        self._features = features
        self._state = new_state(rule, model)
        self._initial = weights(model)
        self._seen: dict[int, float] = {}  # the weights that updates have changed
        self._number = 0
        self._updates = self._run()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Update:
        return next(self._updates)

    def weights(self) -> Floats:
        """Return w as it is now, as one vector."""
        return weights(self._model)

    def averaged_weights(self) -> Floats:
        """Return the average of w over the examples of the finished epochs, as one vector."""
        return averaged_weights(self._model, float(self._state.clock) ** self._power)

    def to_json(self, path: str | Path, *, most: int | None = None) -> int:
        """Write the updates that are still to come to a JSON file, as a list of `Update.to_dict`.

        Parameters
        ----------
        path : str or Path
            The file, which is written completely or not at all.
        most : int, optional
            The largest number of updates. By default all of them.

        Returns
        -------
        int
            The number of updates.
        """
        updates = [update.to_dict() for update in itertools.islice(self, most)]
        write_bytes(path, (json.dumps(updates, ensure_ascii=False, indent=1) + "\n").encode())
        return len(updates)

    def _run(self) -> Iterator[Update]:
        run = in_python(sweep)
        for epoch in range(1, self._epochs + 1):
            rule = self.rule.at(epoch)
            prepared = vars(prepare(rule, self._state.squares, in_plain_python=True))
            order = np.arange(self._examples) if self._orders is None else self._orders.permutation(self._examples)
            counts = np.zeros(len(COUNTS), np.int64)
            for t in range(self._examples):
                before, record = counts.copy(), Record(self._subject)
                recording, state = RecordingRule(**prepared, record=record), self._state
                clock, example = state.clock + t, order[t : t + 1]
                if not run(self._problem, self._model, recording, example, clock, self._power, state.largest, counts):
                    raise too_many_substructures(rule, int(order[t]), self._problem)
                if counts[MISTAKES] > before[MISTAKES]:
                    yield self._finish(record, epoch, int(order[t]), rule, counts - before)
            self._state.clock += self._examples
            named = {name: int(count) for name, count in zip(COUNTS, counts, strict=True)}
            self.history.append(Epoch(epoch, self._examples, norm=norm(self._model), seconds=0.0, **named))
            if counts[MISTAKES] == 0:
                return

    def _finish(self, record: Record, epoch: int, i: int, rule: UpdateRule, counts: Ints) -> Update:
        self._number += 1
        readable = self._subject.readable
        mixed, back_off = mixed_assignments(record, readable, rule.step == "ada")
        terms = mixed if back_off is None else [back_off]
        largest = max(terms, key=lambda term: term.gamma, default=None)
        step: float | None = 0.0
        if largest is not None and largest.gamma > 0:
            step = None if largest.amount is None else largest.amount / largest.gamma
        changes = self._changes(record.features)
        top = changes[: self._features]
        names = self._subject.names(i, [feature for feature, _, _ in top], record.wrong)
        return Update(
            number=self._number,
            epoch=epoch,
            example=i,
            rule=rule.name,
            structure=self._subject.structure,
            tokens=tuple(self._subject.tokens(i)),
            gold=tuple(readable(record.gold)),
            predicted=tuple(readable(record.predicted)),
            wrong_positions=record.wrong,
            mixed=tuple(mixed),
            back_off=back_off,
            weighted_margin=float(sum(term.gamma * term.margin for term in terms)),
            condition_2=not counts[CONDITION_2_FAILURES],
            excluded=int(counts[EXCLUDED]),
            updated=bool(counts[UPDATES]),
            step=step,
            changes=tuple(WeightChange(f, name, a, b) for (f, a, b), name in zip(top, names, strict=True)),
            changed_weights=len(changes),
            before=record.before,
            after=record.scores(i),
        )

    def _changes(self, features: Ints) -> list[tuple[int, float, float]]:
        """The weights that differ from what they were, as (feature, before, after), the largest change first."""
        after = self._subject.values(features).tolist()
        numbers = features.tolist()
        before = [self._seen.get(feature, float(self._initial[feature])) for feature in numbers]
        self._seen.update(zip(numbers, after, strict=True))
        changed = [(f, a, b) for f, a, b in zip(numbers, before, after, strict=True) if a != b]
        return sorted(changed, key=lambda row: (-abs(row[2] - row[1]), row[0]))


def mixed_assignments(
    record: Record, readable: Any, adapts: bool
) -> tuple[list[MixedAssignment], MixedAssignment | None]:
    """The mixed assignments of JJ_x, and the one of a back-off, if there was one."""
    backed_off = record.back_off is not None
    terms, amounts = ({}, {}) if backed_off else (record.terms, record.amounts)
    mixed = []
    for j, (J, margin) in enumerate(zip(record.sets, record.margin.tolist(), strict=True)):
        violation = record.zero is not None and margin <= record.zero
        amount = None if adapts else amounts.get(j, 0.0)
        mixed.append(MixedAssignment(J, label_on(record, readable, J), margin, violation, terms.get(j, 0.0), amount))
    if record.back_off is None:
        return mixed, None
    amount = None if adapts else record.amounts[0]
    whole = label_on(record, readable, record.wrong)
    return mixed, MixedAssignment(
        record.wrong, whole, record.back_off, record.back_off_violates, record.terms[0], amount
    )


def label_on(record: Record, readable: Any, J: tuple[int, ...]) -> tuple[Any, ...]:
    """m^J as users know labels."""
    return tuple(readable(mixed_assignment(record.gold, record.predicted, J)))


def check_traceable(rule: UpdateRule, structure: type) -> None:
    """Raise InputError for a rule whose updates are no sums over listed mixed assignments.

    `structure` is the class of the problem. One without `direction` cannot be traced either.
    """
    for stage in rule.stages:
        why = None
        if stage.all_labels:
            why = "it compares y with all labels, not with mixed assignments"
        elif stage.k_best > 1:
            why = "it solves a quadratic programme over k outputs"
        elif stage.sums_over_all and implements(structure, reach):
            why = "it sums over all sub-structures without listing them"
        elif stage.parts:
            why = "its sub-structures are parts of trees"
        if why is not None:
            raise InputError(f"rule '{stage.name}' cannot be traced: {why}; use another rule, such as 'a-wm' or 'csp'")
    if not implements(structure, direction):
        raise InputError(f"updates of {structure.__name__} cannot be traced: it does not implement direction")


class PythonSubject:
    """The words of an example are the elements of x, if it has one for each position of the label.

    Features have names if the user's problem has an attribute `feature_names`, a sequence of texts. Labels are heads of
    words if it has an attribute `structure` that says so.
    """

    def __init__(self, problem: PythonProblem, model: PythonModel):
        self.problem, self.model = problem, model
        self.structure = str(getattr(problem.problem, "structure", "labels"))

    def tokens(self, i: int) -> Sequence[str]:
        x = self.problem.X[i]
        if not isinstance(x, (list, tuple, str)) or len(x) != len(self.problem.Y[i]):
            return ()
        return [str(element) for element in x]

    def readable(self, label: Any) -> Sequence[Any]:
        return label.tolist() if hasattr(label, "tolist") else list(label)

    def score(self, i: int, label: Any) -> float:
        return float(self.model.w @ self.problem.phi(i, label))

    def values(self, features: Ints) -> Floats:
        return self.model.w[features]

    def names(self, i: int, features: Sequence[int], wrong: Sequence[int]) -> list[str]:
        known = getattr(self.problem.problem, "feature_names", None)
        return [f"feature {feature}" if known is None else str(known[feature]) for feature in features]


class PythonTracing:
    """The method of a learner that shows its training, update by update."""

    epochs: int
    shuffle: bool
    random_state: Any

    if TYPE_CHECKING:  # implemented by the learner

        def _start(
            self, X: Sequence[Any], y: Sequence[Label], initial: Floats | None
        ) -> tuple[PythonProblem, PythonModel, UpdateRule, float]: ...

    def trace(
        self,
        X: Sequence[Any],
        y: Sequence[Label],
        *,
        epochs: int | None = None,
        features: int = 10,
        initial: Floats | None = None,
    ) -> Trace:
        """Return an iterator over the updates that `fit` would make; the learner itself stays as it is.

        Features have names if `problem` has an attribute `feature_names`, a sequence of texts.

        Parameters
        ----------
        X, y : sequences
            The inputs and their labels, as for `fit`.
        epochs : int, optional
            The largest number of epochs. By default that of the learner.
        features : int, default 10
            How many of the weights that changed most an update names.
        initial : ndarray of shape (n_features,), optional
            The weights to start from. By default 0.

        Returns
        -------
        Trace
        """
        problem, model, rule, power = self._start(X, y, initial)
        return Trace(
            problem,
            model,
            rule,
            PythonSubject(problem, model),
            examples=len(X),
            epochs=self.epochs if epochs is None else epochs,
            orders=generator(self.random_state) if self.shuffle else None,
            power=power,
            features=features,
        )
