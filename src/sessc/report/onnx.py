"""Rules as an ONNX graph, which other programs and languages can run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..rows.columns import Category, Column
from ..rules.base import RuleBase
from ..rules.links import Proportions, Softmax

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["to_onnx"]

OPSET, IR_VERSION = 19, 9
"""Old enough for every ONNX Runtime since 1.16; the first in which texts can be compared."""


def to_onnx(rules: RuleBase) -> ModelProto:
    """The rules as an ONNX model.

    Where all columns are numbers its input ``X`` is a table (n, n_features) in the user's units and the model's
    precision. Otherwise it has an input (n, 1) for each column, by the column's name: double for numbers and for
    levels that are numbers or truth values (1 and 0), and text for levels that are text. NaN and the empty text
    are missing, unless the latter is a level; a level never seen counts as missing. Classifiers give ``label`` and
    ``probabilities``, in the order of ``classes``, regressors ``value``, and both ``firing``: how much each rule
    counts.

    Parameters
    ----------
    rules : RuleBase

    Returns
    -------
    onnx.ModelProto
        Write it with ``onnx.save(model, path)``.
    """
    try:
        import onnx
    except ImportError:
        raise ImportError("to_onnx needs the onnx package; pip install onnx.") from None
    graph = _Graph(rules)
    model = onnx.helper.make_model(
        graph.made(),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="sessc",
    )
    model.doc_string = str(rules)
    for key, value in {"features": rules.feature_names, "target": (rules.target_name,)}.items():
        model.metadata_props.add(key=key, value="\n".join(" ".join(name.split()) for name in value))
    onnx.checker.check_model(model, full_check=True)
    return model


def _is_text(column: Category) -> bool:
    """Whether cells come as text; else they are numbers, of which 1 and true are the same."""
    every = (*column.levels, *(column.pool or ()))
    return not every or any(isinstance(level, str) for level in every)


class _Graph:
    """Nodes and constants, one formula after the other."""

    def __init__(self, rules: RuleBase):
        from onnx import helper

        self.helper, self.rules = helper, rules
        self.is_plain = rules.layout.n_numbers == rules.n_features
        self.taken = set(() if self.is_plain else rules.feature_names)
        self.dtype = rules.linear.dtype if self.is_plain else np.dtype(float)
        self.type = helper.np_dtype_to_tensor_dtype(self.dtype)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def made(self) -> Any:
        given, numbers, features, gaps = self._inputs()
        firing = self._firing(numbers, features, gaps)
        outputs = self._outputs(firing, features, gaps)
        results = [self._value(firing, self.rules.n_rules)]
        if self.rules.classes is None:
            value = self._node("Reshape", outputs, self._integers(-1), to="value")
            results.append(self.helper.make_tensor_value_info(value, self.type, ["n"]))
        else:
            results += [self._label(outputs), self._value(self._link(outputs), self.rules.consequents.shape[2])]
        return self.helper.make_graph(self.nodes, "rules", given, results, self.constants)

    def _inputs(self) -> tuple[list[Any], str | None, str, str]:
        """What the graph is given; its numbers, if there are any, features (n, D) and gaps (n, J) made of it."""
        if self.is_plain:
            every, missing = self._numbers("X")
            return [self._value("X", self.rules.n_features)], every, every, self._cast(missing, self.dtype)
        given = [self._input(column) for column in self.rules.columns]
        names, places = self.rules.feature_names, self.rules.layout.numbers
        levels = {c.name: self._levels(c) for c in self.rules.columns if isinstance(c, Category)}
        gaps = [self._none(each) for each in levels.values()]
        numbers: str | None = None
        if len(places):
            numbers, missing = self._numbers(self._joined([names[j] for j in places]))
            gaps.insert(0, self._cast(missing, self.dtype))
        features = self._joined([*([] if numbers is None else [numbers]), *levels.values()])
        order = np.argsort([*places, *map(names.index, levels)])
        return given, numbers, features, self._node("Gather", self._joined(gaps), self._integers(*order), axis=1)

    def _input(self, column: Column) -> Any:
        kind = np.dtype(object if isinstance(column, Category) and _is_text(column) else float)
        return self.helper.make_tensor_value_info(
            column.name, self.helper.np_dtype_to_tensor_dtype(kind), ["n", 1]
        )

    def _numbers(self, given: str) -> tuple[str, str]:
        """Numbers in standard units, zero where they are missing, and where that is."""
        rules, places = self.rules, self.rules.layout.numbers
        mean, missing = self._number(rules.mean[places]), self._node("IsNaN", given)
        # What compares with NaN differs between runtimes, so that there is none before anything is compared.
        known = self._node("Where", missing, mean, given)
        if rules.limits is not None:
            known = self._node("Max", known, self._number(rules.limits[0, places]))
            known = self._node("Min", known, self._number(rules.limits[1, places]))
        Z = self._node("Div", self._node("Sub", known, mean), self._number(rules.scale[places]))
        return self._node("Where", missing, self._number(np.zeros(1)), Z), missing

    def _levels(self, column: Category) -> str:
        """One for the level of a cell and zero for the others (n, levels); the pool is the last."""
        every = [*column.levels, *(column.pool or ())]
        values = list(map(str, every)) if _is_text(column) else every
        if len(set(values)) < len(every):
            raise ValueError(f"Column {column.name!r} has levels that read alike, and ONNX has them as text.")
        # A column in which no cell was ever known has no level, and is compared with something all the same.
        known = np.asarray([values or [""]], object if _is_text(column) else float)
        found = self._cast(self._node("Equal", column.name, self._constant(known)), self.dtype)
        places = np.minimum(np.arange(len(every)), len(column.levels))
        codes = np.eye(len(column.levels) + 1)[places, : column.n_levels]
        return self._product(found, codes if every else np.zeros((1, column.n_levels)))

    def _none(self, levels: str) -> str:
        """One where a cell has none of the levels."""
        some = self._node("ReduceSum", levels, self._integers(1), keepdims=1)
        return self._node("Sub", self._number(np.ones(1)), some)

    def _joined(self, parts: list[str]) -> str:
        return parts[0] if len(parts) == 1 else self._node("Concat", *parts, axis=1)

    def _firing(self, numbers: str | None, features: str, gaps: str) -> str:
        """Normalised firing levels, from their logarithms."""
        constants, linear, precisions, unknown = (np.asarray(part, float) for part in self.rules.conditions)
        logits = self._node("Add", self._product(features, linear.T), self._product(gaps, unknown.T))
        if numbers is not None:
            square = self._product(self._node("Mul", numbers, numbers), -0.5 * precisions.T)
            logits = self._node("Add", logits, square)
        return self._node("Softmax", self._node("Add", logits, self._number(constants)), to="firing", axis=1)

    def _outputs(self, firing: str, features: str, gaps: str) -> str:
        consequents = np.asarray(self.rules.consequents, float)
        if self.rules.order == 0:
            return self._node("MatMul", firing, self._number(consequents[:, 0]))
        n_rules, _, n_outputs = consequents.shape
        group, fill = self.rules.layout.group, np.asarray(self.rules.fill, float)
        counted = self._product(gaps, (np.arange(self.rules.n_features)[:, None] == group) * fill)
        filled = self._node("Add", features, counted)
        slopes = np.moveaxis(consequents[:, 1:], 1, 0).reshape(len(group), -1)
        says = self._node("Add", self._product(filled, slopes), self._number(consequents[:, 0].ravel()))
        says = self._node("Reshape", says, self._integers(-1, n_rules, n_outputs))
        weight = self._node("Unsqueeze", firing, self._integers(2))
        return self._node("ReduceSum", self._node("Mul", weight, says), self._integers(1), keepdims=0)

    def _link(self, outputs: str) -> str:
        if isinstance(self.rules.link, Softmax):
            return self._node("Softmax", outputs, to="probabilities", axis=1)
        assert isinstance(self.rules.link, Proportions)
        zero, one = self._number(np.zeros(1)), self._number(np.ones(1))
        positive = self._node("Max", outputs, zero)
        total = self._node("ReduceSum", positive, self._integers(1), keepdims=1)
        some = self._node("Greater", total, zero)
        share = self._node("Div", positive, self._node("Where", some, total, one))
        even = self._number(np.full(1, 1 / self.rules.consequents.shape[2]))
        return self._node("Where", some, share, even, to="probabilities")

    def _label(self, outputs: str) -> Any:
        classes = np.asarray(self.rules.classes)
        kinds = {"b": bool, "f": np.float64, "i": np.int64, "u": np.int64}
        known = self._constant(classes.astype(kinds.get(classes.dtype.kind, object)))
        kind = self.constants[-1].data_type
        best = self._node("ArgMax", outputs, axis=1, keepdims=0)
        label = self._node("Gather", known, best, to="label", axis=0)
        return self.helper.make_tensor_value_info(label, kind, ["n"])

    def _node(self, operation: str, *inputs: str, to: str | None = None, **settings: Any) -> str:
        """A node, and the name of what it gives."""
        name = self._free(to or f"{operation.lower()}_{len(self.nodes)}")
        self.nodes.append(self.helper.make_node(operation, inputs, [name], **settings))
        return name

    def _product(self, Z: str, matrix: np.ndarray) -> str:
        # One feature's scale is a scalar, which ONNX Runtime would fold into the product in single precision.
        return self._node("MatMul" if len(matrix) > 1 else "Mul", Z, self._number(matrix))

    def _cast(self, given: str, dtype: np.dtype) -> str:
        name = self._free(f"cast_{len(self.nodes)}")
        kind = self.helper.np_dtype_to_tensor_dtype(dtype)
        self.nodes.append(self.helper.make_node("Cast", [given], [name], to=kind))
        return name

    def _free(self, name: str) -> str:
        """A name that no column has."""
        return self._free(f"{name}_") if name in self.taken else name

    def _number(self, array: np.ndarray) -> str:
        return self._constant(np.asarray(array, self.dtype))

    def _integers(self, *values: int) -> str:
        return self._constant(np.asarray(values, np.int64))

    def _constant(self, array: np.ndarray) -> str:
        from onnx import numpy_helper

        name = self._free(f"constant_{len(self.constants)}")
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _value(self, name: str, width: int) -> Any:
        return self.helper.make_tensor_value_info(name, self.type, ["n", width])
