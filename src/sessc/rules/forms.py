"""What rules offer as a convenience: to be explained, changed, measured, shown and kept.

The one place that may import upwards, and only when it is asked to: rules are numbers and need none of this to
predict. Each method is a line that calls the function which does it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

    from onnx import ModelProto

    from ..report.evaluation import EvaluationDisplay
    from .base import RuleBase
    from .effects import Effects
    from .evaluation import Comparison, Evaluation
    from .evidence import Evidence
    from .explanation import Explanation

__all__ = ["Forms", "Judged", "Spoken"]


class Forms:
    """Everything that can be done with rules besides asking them."""

    def explain(self: Any, x: Any) -> Explanation:
        """Why the rules answer as they do for one row; ``print`` what this returns.

        Parameters
        ----------
        x : array of shape (n_features,), mapping of feature names to cells, or table of one row
            Cells are as in the data: numbers, text, and None or NaN where something is not known. Where they have
            names there may be others.

        Returns
        -------
        Explanation
        """
        from .explanation import explain

        return explain(self, x)

    def save(self: Any, path: str | os.PathLike) -> None:
        """Write the rules to a JSON file, every digit of them.

        Parameters
        ----------
        path : path
            People can read the file, and reading it never runs code.
        """
        from ..tables.files import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike) -> RuleBase:
        """Read rules from a file that ``save`` wrote. Reading never runs code.

        Of a file that ``sessc fit`` wrote these are the rules alone; :class:`sessc.Model` keeps its columns.

        Parameters
        ----------
        path : path

        Returns
        -------
        RuleBase
        """
        from ..tables.files import load

        return load(path).rules

    @classmethod
    def by_hand(
        cls,
        rules: Sequence[tuple[Mapping[str, Any], Mapping[Any, float] | float]],
        *,
        features: Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
        target_name: str = "y",
    ) -> RuleBase:
        """Rules written by hand.

        Parameters
        ----------
        rules : sequence of (conditions, output)
            Conditions are a dict of one for each feature the rule asks about: a pair (centre, width), or a dict of
            what ``with_condition`` takes, such as ``{"at_least": 3}`` or ``{"among": ["red", "blue"]}``. Levels of
            a category that no rule names count as one more, and a missing cell as that. An output is a number, or
            a dict of the probability of each class.
        features : sequence of str, optional
            All features, in the order of the columns of the data; by default those mentioned, in that order.
        classes : sequence, optional
            All classes; by default those mentioned, sorted. None mentioned makes it a regression.
        target_name : str

        Returns
        -------
        RuleBase

        Examples
        --------
        >>> from sessc import RuleBase
        >>> rules = RuleBase.by_hand([
        ...     ({"age": (70, 10)}, {"ill": 0.6, "well": 0.4}),
        ...     ({"age": (30, 20), "pulse": (60, 15)}, {"well": 0.9, "ill": 0.1}),
        ... ])
        >>> rules([[65, 80], [25, 62]])
        array(['ill', 'well'], dtype='<U4')
        >>> rules = RuleBase.by_hand([
        ...     ({"age": {"at_least": 60}, "smoking": {"among": ["daily", "often"]}}, 0.7),
        ...     ({"age": {"at_most": 60}}, 0.1),
        ... ], target_name="risk")
        >>> rules({"age": [80, 30], "smoking": ["daily", "never"]}).round(2)
        array([0.53, 0.11])
        """
        from .editing import by_hand

        return by_hand(rules, features=features, classes=classes, target_name=target_name)

    def with_condition(
        self: Any,
        rule: int,
        feature: str,
        about: float | None = None,
        width: float | None = None,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
        between: tuple[float, float] | None = None,
        among: Sequence[Any] | None = None,
        unknown: bool | None = None,
    ) -> RuleBase:
        """The rules with one condition moved, made wider or narrower, replaced or added.

        It is written as it is read: ``at_most=1.3`` makes a condition that is met by a half at 1.3, better below,
        and in full where the data begin. A rule whose conditions are all met in full counts as much as before.

        Parameters
        ----------
        rule : int
            As rules are printed, counted from 1.
        feature : str
        about, width : float, optional
            Centre and standard deviation of a bell curve in the user's units; one that is not given stays. A
            condition that was not there needs both.
        at_least, at_most : float, optional
            Where an edge is met by a half; both together are ``between``. Dates may be text, as ``"2019-03-01"``.
        between : pair of float, optional
            Where a bell curve is met by a half.
        among : sequence, optional
            The levels of a category that meet the condition; others meet it by a twentieth.
        unknown : bool, optional
            Whether a missing cell meets the condition, like the best or like the worst of the data; by default it
            counts as one does on average.

        Returns
        -------
        RuleBase
            It remembers the change in its ``edits``.
        """
        from .editing import with_condition

        wish = {"at_least": at_least, "at_most": at_most, "between": between, "among": among, "unknown": unknown}
        return with_condition(self, rule, feature, about=about, width=width, **wish)

    def without_condition(self: Any, rule: int, feature: str) -> RuleBase:
        """The rules, of which one, counted from 1, no longer asks about a feature."""
        from .editing import without_condition

        return without_condition(self, rule, feature)

    def without_rule(self: Any, rule: int) -> RuleBase:
        """The rules less one, counted from 1; those after it move up by one."""
        from .editing import without_rule

        return without_rule(self, rule)

    def with_output(self: Any, rule: int, output: Mapping[Any, float] | float) -> RuleBase:
        """The rules, of which one concludes something else.

        A linear conclusion says it where it is measured from when it is printed: at the centres of the rule's own
        bell curves, and otherwise at the mean of the data.

        Parameters
        ----------
        rule : int
            As rules are printed, counted from 1.
        output : float, or dict of a number for each class
            A value, or the probabilities of the classes where the rule speaks alone.

        Returns
        -------
        RuleBase
        """
        from .editing import with_output

        return with_output(self, rule, output)

    def evaluate(
        self: Any, X: Any, y: Any, sample_weight: Any = None, *, beside: Any = None, **asked: Any
    ) -> Evaluation:
        """How well the rules do on data; ``print`` what this returns.

        Parameters
        ----------
        X, y, sample_weight
            Rows, what is true of them and, optionally, how much each counts.
        beside
            What to measure beside them, by default nothing; see :func:`sessc.evaluate`.
        asked
            Whatever else :func:`sessc.evaluate` takes: ``positive``, ``threshold``, ``prior``, ``groups``,
            ``resamples`` and ``random_state``.

        Returns
        -------
        Evaluation
            Measures with intervals, and how far rules are from what happens under them.
        """
        from .evaluation import evaluate

        return evaluate(self, X, y, sample_weight, beside=beside, **asked)

    def observe(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Evidence:
        """What happens under each rule on data: the rows it governs, what becomes of them, what the model answers.

        Of rows that were not learned from, its ``faithfulness`` says whether rules mean what they say.

        Parameters
        ----------
        X, y, sample_weight
            As for ``evaluate``.

        Returns
        -------
        Evidence
        """
        from .observe import observe

        return observe(self, X, y, sample_weight)

    def effects(self: Any, X: Any = None, sample_weight: Any = None) -> Effects:
        """What the answer is over each column, which rules say so, and how much each column matters.

        Parameters
        ----------
        X : table, optional
            Rows to ask; of more than 500 every second, third, ... is. Without them it is what was found when the
            rules were learned; if they were changed since, or written by hand, one typical row is asked.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        Effects
        """
        from .overview import effects

        return effects(self, X, sample_weight)

    def with_prior(self: Any, prior: Any = "data") -> RuleBase:
        """The rules with probabilities that hold where classes are as common as this.

        Rules that were learned with classes weighing the same give probabilities as if all were equally common.

        Parameters
        ----------
        prior : "data" or dict of a share for each class, default="data"
            By default how common classes were in the data.

        Returns
        -------
        RuleBase
        """
        from .editing import with_prior

        return with_prior(self, prior)

    def compare(self: Any, before: RuleBase, X: Any, y: Any, sample_weight: Any = None) -> Comparison:
        """What a change did to answers and accuracy; ``print`` what this returns.

        Parameters
        ----------
        before : RuleBase
            The rules that these were made from, or any others.
        X, y, sample_weight
            As for ``evaluate``.

        Returns
        -------
        Comparison
        """
        from .evaluation import compare

        return compare(before, self, X, y, sample_weight)

    def to_text(
        self: Any,
        max_conditions: int | None = None,
        *,
        max_terms: int | None = None,
        words: bool = True,
        width: int | None = None,
    ) -> str:
        """The rules as IF-THEN sentences in the user's units.

        ``between 1.2 and 2.1``, ``at least 12.6`` or ``is red or blue`` says where a condition is met by a half or
        more; conditions are soft, and beyond that the rule counts less and less. One that is met so by all of the
        data only inclines, and says ``rather``; ``or unknown`` says that a missing cell meets it as well.
        Conditions stand in the order of their impact: how much they change over the data.

        A linear conclusion is written from the centres of the rule's own bell curves, or from the mean of the data
        where it has none there, so that its constant is what the rule says at that point. A missing number counts
        as the mean, and a missing category as the average of its levels.

        Parameters
        ----------
        max_conditions : int, optional
            Show only this many of the strongest conditions of each rule, and say how many were left out; of many
            levels, name four.
        max_terms : int, optional
            Show only this many of the largest terms of each linear conclusion, and say how many were left out.
        words : bool, default=True
            Say, where the data are known, whether such numbers are low, medium or high among them.
        width : int, optional
            Break lines that are longer.

        Returns
        -------
        str
        """
        from ..report.text import to_text

        return to_text(self, max_conditions=max_conditions, max_terms=max_terms, words=words, width=width)

    def to_markdown(
        self: Any, max_conditions: int | None = None, *, max_terms: int | None = None, words: bool = True
    ) -> str:
        """The rules as a Markdown table, one row for each.

        Parameters
        ----------
        max_conditions, max_terms, words
            As for ``to_text``.

        Returns
        -------
        str
        """
        from ..report.tables import to_markdown

        return to_markdown(self, max_conditions=max_conditions, max_terms=max_terms, words=words)

    def to_latex(
        self: Any, max_conditions: int | None = None, *, max_terms: int | None = None, words: bool = True
    ) -> str:
        """The rules as a LaTeX table as wide as a line, which needs no package.

        Parameters
        ----------
        max_conditions, max_terms, words
            As for ``to_text``.

        Returns
        -------
        str
        """
        from ..report.tables import to_latex

        return to_latex(self, max_conditions=max_conditions, max_terms=max_terms, words=words)

    def to_html(
        self: Any,
        path: str | os.PathLike | None = None,
        *,
        title: str | None = None,
        evaluations: Mapping[str, Evaluation] | None = None,
        examples: Any = None,
        effects: Effects | None = None,
    ) -> str:
        """The rules as a web page, with a panel that recomputes the answer for any values.

        Rules are cards with small pictures. The page is one file. It loads nothing, sends nothing, and works from
        a disk, on a phone and on paper.

        Parameters
        ----------
        path : path, optional
            Where to write the page.
        title : str, optional
        evaluations : dict of Evaluation, optional
            Measures to show, on rows held out from learning, by the name of the model, that of these rules first.
        examples : data frame or array of shape (n, n_features), optional
            Rows to start from on the page. They are in the file for everyone to see, so none are by default.
        effects : Effects, optional
            What the page shows of the whole model, by default what :meth:`effects` knows without rows. Rules that
            were changed by hand know more if you give them ``rules.effects(X)``.

        Returns
        -------
        str
            The page.
        """
        from ..report.html import to_html

        return to_html(self, path, title=title, evaluations=evaluations, examples=examples, effects=effects)

    def to_onnx(self: Any) -> ModelProto:
        """The rules as an ONNX model, which other programs and languages can run.

        Its input ``X`` is a table (n, n_features) in the user's units and the model's precision. Classifiers give
        ``label`` and ``probabilities``, in the order of ``classes``, regressors ``value``, and both ``firing``:
        how much each rule counts.

        Returns
        -------
        onnx.ModelProto
            Write it with ``onnx.save(model, path)``.
        """
        from ..report.onnx import to_onnx

        return to_onnx(self)

    def __str__(self: Any) -> str:
        from ..report.text import shortly

        return shortly(self)


class Spoken:
    """An explanation for people, as ``print`` shows it, and for machines."""

    def to_data(self: Any) -> dict[str, Any]:
        """The explanation as plain lists, dicts and numbers, ready for ``json.dumps``.

        Returns
        -------
        dict
            ``target`` and ``answer``; ``classes`` and their ``probabilities``, or None for a number; ``values``,
            the row by the names of the features, with levels as they are, dates as text and None for what is
            missing; for each rule its ``firing``, its ``grades`` by the feature of each condition it has, and its
            ``contributions`` to each output; ``outputs``, their sum before the link; and ``changes``, each with
            ``feature``, ``value`` and ``answer``.
        """
        from ..report.explanation import explanation_to_data

        return explanation_to_data(self)

    def __str__(self: Any) -> str:
        from ..report.explanation import to_text

        return to_text(self)


class Judged:
    """An evaluation as ``print`` shows it, as a picture and as a file."""

    def plot(self: Any, **settings: Any) -> EvaluationDisplay:
        """Draw measures with their intervals, the curve of what is found, and what was said beside what happened.

        Parameters
        ----------
        settings
            ``figsize`` and whatever else ``matplotlib.pyplot.figure`` takes.

        Returns
        -------
        EvaluationDisplay
        """
        from ..report.evaluation import EvaluationDisplay

        return EvaluationDisplay(self).plot(**settings)

    def save(self: Any, path: str | os.PathLike) -> None:
        """Write the evaluation to a JSON file, every digit of it, with those beside it; rows are not in it."""
        from ..tables.files import save_evaluation

        save_evaluation(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike) -> Evaluation:
        """Read an evaluation from a file that ``save`` wrote. Reading never runs code."""
        from ..tables.files import load_evaluation

        return load_evaluation(path)

    def __str__(self: Any) -> str:
        from ..report.evaluation import to_text

        return to_text(self)
