"""The pass over rows that takes all the time, as one GPU kernel.

Array by array a pass moves a hundred gigabytes for every four of data. Here each tile of rows is read once, its
costs and memberships never leave the chip, and it leaves behind only what it adds to the sums. The result is that
of :meth:`Objective.statistics`, added up over all rows.
"""

# mypy: ignore-errors

from __future__ import annotations

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from .._array import Array
from ..rows.base import Table
from ..terms.losses import LogLoss
from ..terms.objective import Objective, Statistics
from ..terms.sharing import Power

__all__ = ["applies", "statistics"]

TILE, WARPS = 32, 2
"""Rows in a tile, and groups of threads that work on it: of all tried on an H200 the fastest."""
PROGRAMS = 8
"""For each multiprocessor of the GPU: enough to hide memory's latency, and each then adds up few rows."""
MOST = 64
"""Rules, features and classes at most: a tile's share of them is held in registers."""


def applies(objective: Objective, table: Table, n_rules: int) -> bool:
    """Whether these rows and this cost are what the kernel is made for."""
    return (
        type(objective) is Objective
        and isinstance(objective.membership, Power)
        and type(objective.loss) in (LogLoss, type(None))
        and table.X.dtype == torch.float32
        and max(n_rules, table.X.shape[1], table.n_classes or 0) <= MOST
    )


def statistics(objective: Objective, table: Table, coefficients: Array) -> Statistics:
    """The statistics of all rows, whose costs have these coefficients (R, K)."""
    X, weight = table.X, table.weight
    n_rules, n_features = coefficients.shape[0], X.shape[1]
    n_classes = 0 if objective.loss is None else table.n_classes
    if objective.weighting.is_fixed:
        coefficients = _around(coefficients, n_features, lambda square: square.expand(-1, n_features), n_squares=1)
    coefficients = coefficients.contiguous()
    sums = torch.empty((_n_programs(X), *coefficients.shape), dtype=X.dtype, device=X.device)
    kernel[(len(sums),)](
        X,
        X if n_classes == 0 else table.y,
        X if weight is None else weight,
        table.center,
        table.center if table.scale is None else table.scale,
        coefficients,
        sums,
        X.shape[0],
        X.stride(0),
        X.stride(1),
        n_rules,
        n_features,
        n_classes,
        objective.membership.exponent,
        R=_padded(n_rules),
        K=_padded(2 * n_features),
        C=_padded(n_classes),
        TILE=TILE,
        SCALED=table.scale is not None,
        WEIGHTED=weight is not None,
        LABELLED=n_classes > 0,
        num_warps=WARPS,
        num_stages=2,
    )
    sums = sums.to(torch.float64).sum(dim=0)
    if objective.weighting.is_fixed:
        sums = _around(sums, n_features, lambda squares: squares.sum(dim=1, keepdim=True), n_squares=n_features)
    return Statistics(sums, 0.0, n_features, 1 if objective.weighting.is_fixed else n_features)


def _around(columns: Array, n_features: int, change: Callable[[Array], Array], n_squares: int) -> Array:
    """The columns with those of the squares changed: the kernel knows squares only one by one."""
    before, squares, labels = torch.tensor_split(columns, (1 + n_features, 1 + n_features + n_squares), dim=1)
    return torch.cat([before, change(squares), labels], dim=1)


def _n_programs(X: Array) -> int:
    return PROGRAMS * (torch.cuda.get_device_properties(X.device).multi_processor_count if X.is_cuda else 1)


def _padded(size: int) -> int:
    """The next power of two that a matrix product of tiles can have for a side."""
    return max(16, 1 << max(size - 1, 0).bit_length())


@triton.jit
def kernel(
    X,
    y,
    weight,
    center,
    scale,
    coefficients,
    sums,
    n_rows,
    row_stride,
    column_stride,
    n_rules,
    n_features,
    n_classes,
    exponent,
    R: tl.constexpr,
    K: tl.constexpr,
    C: tl.constexpr,
    TILE: tl.constexpr,
    SCALED: tl.constexpr,
    WEIGHTED: tl.constexpr,
    LABELLED: tl.constexpr,
):
    """Every so many tiles of rows: columns, costs, amounts, and the columns summed by them."""
    rule, column, label, place = tl.arange(0, R), tl.arange(0, K), tl.arange(0, C), tl.arange(0, TILE)
    is_rule, is_column, is_label = rule < n_rules, column < 2 * n_features, label < n_classes
    is_square = column >= n_features
    feature = tl.where(is_square, column - n_features, column)
    width = 1 + 2 * n_features + n_classes
    at = rule * width
    constant = tl.load(coefficients + at, mask=is_rule, other=1.0)
    of_columns = tl.load(
        coefficients + at[None, :] + 1 + column[:, None], mask=is_column[:, None] & is_rule[None, :], other=0.0
    )
    of_labels = tl.load(
        coefficients + at[None, :] + 1 + 2 * n_features + label[:, None],
        mask=is_label[:, None] & is_rule[None, :],
        other=0.0,
    )
    origin = tl.load(center + feature, mask=is_column, other=0.0)
    if SCALED:
        unit = 1 / tl.load(scale + feature, mask=is_column, other=1.0)
    sum_of_ones = tl.zeros((R,), tl.float32)
    sum_of_columns = tl.zeros((K, R), tl.float32)
    sum_of_labels = tl.zeros((C, R), tl.float32)
    first = tl.program_id(0).to(tl.int64) * TILE
    step = tl.num_programs(0).to(tl.int64) * TILE
    for start in range(first, n_rows, step):
        row = start + place
        is_row = row < n_rows
        x = tl.load(
            X + row[:, None] * row_stride + feature[None, :] * column_stride,
            mask=is_row[:, None] & is_column[None, :],
            other=0.0,
        )
        x = x - origin[None, :]
        if SCALED:
            x = x * unit[None, :]
        x = tl.where(is_square[None, :], x * x, x)
        # Three products in tf32 are as good as one in float32, and run on the units for matrices.
        cost = tl.dot(x, of_columns, input_precision="tf32x3") + constant[None, :]
        if LABELLED:
            code = tl.load(y + row, mask=is_row, other=0).to(tl.int32)
            hot = (code[:, None] == label[None, :]).to(tl.float32)
            cost = tl.dot(hot, of_labels, cost, input_precision="tf32x3")
        # Shares and their powers as in Power.settle, in binary logarithms, which the chip has instructions for.
        logit = tl.where(is_rule[None, :], -tl.log2(tl.maximum(cost, 1.1754943508222875e-38)), float("-inf"))
        logit = (logit - tl.max(logit, axis=1)[:, None]) / (exponent - 1)
        total = tl.sum(tl.exp2(logit), axis=1)
        counts = tl.where(is_row, tl.exp2(-exponent * tl.log2(total)), 0.0)
        if WEIGHTED:
            counts *= tl.load(weight + row, mask=is_row, other=0.0)
        amount = tl.exp2(exponent * logit) * counts[:, None]
        sum_of_ones += tl.sum(amount, axis=0)
        sum_of_columns = tl.dot(tl.trans(x), amount, sum_of_columns, input_precision="tf32x3")
        if LABELLED:
            sum_of_labels = tl.dot(tl.trans(hot), amount, sum_of_labels, input_precision="tf32x3")
    out = sums + tl.program_id(0) * n_rules * width + at
    tl.store(out, sum_of_ones, mask=is_rule)
    tl.store(out[None, :] + 1 + column[:, None], sum_of_columns, mask=is_column[:, None] & is_rule[None, :])
    tl.store(
        out[None, :] + 1 + 2 * n_features + label[:, None],
        sum_of_labels,
        mask=is_label[:, None] & is_rule[None, :],
    )
