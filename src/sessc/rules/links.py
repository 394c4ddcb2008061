"""How what rules add up to becomes what the model states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._array import array_namespace, divide, scalar, softmax

__all__ = ["Identity", "Link", "Proportions", "Softmax"]


class Link:
    """How raw outputs become what the model states."""

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def of_one_rule(self, outputs: np.ndarray) -> np.ndarray:
        """What a rule's own outputs (n_outputs,) are shown as: as they are, unless they mean something clearer."""
        return outputs


@dataclass(frozen=True)
class Identity(Link):
    """Outputs are the prediction (regression)."""

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        return outputs


@dataclass(frozen=True)
class Proportions(Link):
    """Outputs fitted to 0 and 1 by least squares: negative parts are cut and the rest is made to sum to one."""

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        xp = array_namespace(outputs)
        positive = xp.maximum(outputs, scalar(0.0, outputs))
        total = xp.sum(positive, axis=1, keepdims=True)
        return divide(positive, total, otherwise=scalar(1 / outputs.shape[1], outputs))


@dataclass(frozen=True)
class Softmax(Link):
    """Outputs fitted by cross-entropy: they are logarithms of odds."""

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        return softmax(outputs, axis=1)

    def of_one_rule(self, outputs: np.ndarray) -> np.ndarray:
        """The probabilities where this rule alone fires."""
        return softmax(outputs, axis=0)
