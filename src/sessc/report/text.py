"""Rules as IF-THEN sentences in the user's own names and units."""

from __future__ import annotations

import numpy as np

from ..rules import RuleBase

__all__ = ["to_text"]


def to_text(rules: RuleBase, *, max_conditions: int | None = None) -> str:
    """The rules as readable text.

    Conditions of a rule stand in the order of their strength: how narrow they are compared with the spread
    of the feature. ``about 17.5 (± 2.1)`` means a bell curve centred at 17.5 with standard deviation 2.1.

    Parameters
    ----------
    rules : RuleBase
    max_conditions : int, optional
        Show only this many of the strongest conditions of each rule, and say how many were left out.

    Returns
    -------
    str
    """
    kind = "classification" if rules.classes is not None else "regression"
    consequent = "constant" if rules.order == 0 else "linear"
    head = (
        f"{rules.n_rules} rule{'s' * (rules.n_rules != 1)} for {kind} by {rules.n_features} features, "
        f"with {consequent} outputs."
    )
    return "\n\n".join([head, *(_rule(rules, r, max_conditions) for r in range(rules.n_rules))])


def _rule(rules: RuleBase, r: int, max_conditions: int | None) -> str:
    conditions = _conditions(rules, r)
    shown = conditions[:max_conditions]
    lines = shown or ["anything"]
    if left := len(conditions) - len(shown):
        lines = [*lines, f"{left} weaker condition{'s' * (left != 1)}"]
    text = "\n".join(f"  {'IF  ' if k == 0 else 'AND '} {line}" for k, line in enumerate(lines))
    return f"Rule {r + 1}\n{text}\n  THEN {_consequent(rules, r)}"


def _conditions(rules: RuleBase, r: int) -> list[str]:
    centers, widths = rules.centers_in_units[r], rules.widths_in_units[r]
    strongest = np.argsort(rules.widths[r], kind="stable")
    return [
        f"{rules.feature_names[d]} is about {_pair(centers[d], widths[d])}"
        for d in strongest
        if np.isfinite(widths[d])
    ]


def _pair(center: float, width: float) -> str:
    """A centre to the digits its width deserves."""
    places = int(np.clip(1 - np.floor(np.log10(width)), 0, 12)) if width > 0 else 3
    if max(abs(center), width) >= 1e7 or width < 1e-9:
        return f"{center:.4g} (± {width:.2g})"
    return f"{center:.{places}f} (± {width:.{places}f})"


def _consequent(rules: RuleBase, r: int) -> str:
    names = [rules.target_name] if rules.classes is None else [str(name) for name in rules.classes]
    if rules.order == 0:
        outputs = rules.consequents[r, 0]
        if rules.classes is None:
            return f"{names[0]} = {outputs[0]:.4g}"
        order = np.argsort(-outputs, kind="stable")
        return ", ".join(f"{names[c]} {outputs[c].round(2) + 0.0:.2f}" for c in order)  # no "-0.00"
    slopes = rules.consequents[r, 1:] / rules.scale[:, None]
    constants = rules.consequents[r, 0] - rules.mean @ slopes
    return "\n       ".join(
        f"{name} = {_linear(rules, constants[c], slopes[:, c])}" for c, name in enumerate(names)
    )


def _linear(rules: RuleBase, constant: float, slopes: np.ndarray) -> str:
    # Largest effect first: what a typical change of the feature does to the output.
    order = np.argsort(-np.abs(slopes * rules.scale), kind="stable")
    terms = [f" {'+' if slopes[d] >= 0 else '-'} {abs(slopes[d]):.3g} {rules.feature_names[d]}" for d in order]
    rest = len(terms) - 4
    return f"{constant:.3g}" + "".join(terms[:4]) + (f" + {rest} smaller terms" if rest > 0 else "")
