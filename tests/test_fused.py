"""The GPU kernel, run by Triton's interpreter: slow, but without a GPU and to the letter."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from sessc import Entropy, LogLoss, Objective, Power, SquaredLoss, Uniform
from sessc.rows.arrays import ArrayRows
from sessc.rows.extent import standardized
from sessc.rows.robust import centered
from sessc.solve.start import first_parameters

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from sessc.solve import fused  # noqa: E402


def posed(rng, *, labels, weights, measure, n_rules=7, n_features=5, weighting=None):
    X = torch.asarray(100 + 3 * rng.normal(size=(1000, n_features)).astype(np.float32))
    y = torch.asarray(rng.integers(3, size=len(X))) if labels else None
    weight = torch.asarray(rng.random(len(X)).astype(np.float32)) if weights else None
    rows, frame = measure(ArrayRows(X, y, weight, n_classes=3 if labels else None))
    objective = Objective(Power(1.2), weighting or Entropy(30.0), 0.1, LogLoss(1.0) if labels else None)
    V = rows.standardized(rows.center, rows.scale).map(lambda block: block.X)[:n_rules]
    parameters = first_parameters(objective, V, frame, np.asarray([0.2, 0.3, 0.5]) if labels else None)
    return objective, rows, objective.coefficients(parameters)


def in_float64(rows):
    parts = {name: getattr(rows, name) for name in ("X", "center", "scale", "sample_weight")}
    return replace(rows, **{name: part if part is None else part.double() for name, part in parts.items()})


@pytest.mark.parametrize("measure", [centered, standardized])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("weighting", [Entropy(30.0), Uniform()])
def test_the_kernel_sums_what_blocks_sum(rng, weighting, labels, weights, measure):
    objective, rows, coefficients = posed(
        rng, labels=labels, weights=weights, measure=measure, weighting=weighting
    )
    exact = (
        in_float64(rows)
        .prepared(objective.columns)
        .sum(lambda columns: objective.statistics(coefficients.double(), columns))
    )
    assert fused.applies(objective, rows.stored(), len(coefficients))
    found = fused.statistics(objective, rows.stored(), coefficients)
    assert found.sums.dtype == torch.float64
    largest = exact.sums.abs().amax(dim=0)
    np.testing.assert_allclose(found.sums / largest, exact.sums / largest, atol=3e-5)


def test_sizes_need_not_be_powers_of_two(rng):
    for n_rules, n_features in ((1, 1), (33, 17)):
        objective, rows, coefficients = posed(
            rng, labels=True, weights=False, measure=centered, n_rules=n_rules, n_features=n_features
        )
        found = fused.statistics(objective, rows.stored(), coefficients).sums
        expected = rows.prepared(objective.columns).sum(partial(objective.statistics, coefficients)).sums
        largest = expected.abs().amax(dim=0)
        np.testing.assert_allclose(found / largest, expected / largest, atol=3e-5)


def test_other_costs_are_left_to_blocks(rng):
    objective, rows, _ = posed(rng, labels=True, weights=False, measure=centered)
    assert not fused.applies(replace(objective, membership=Entropy(1.0)), rows.stored(), 7)
    assert not fused.applies(replace(objective, loss=SquaredLoss(1.0)), rows.stored(), 7)
    assert not fused.applies(objective, in_float64(rows).stored(), 7)
    assert not fused.applies(objective, rows.stored(), 65)

    class Variant(Objective):
        pass

    assert not fused.applies(Variant(objective.membership), rows.stored(), 7)
