"""Rules as an ONNX graph, which other programs and languages can run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..rules.base import RuleBase
from ..rules.columns import Category, Columns, Number
from ..rules.links import Proportions, Softmax

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["to_onnx"]

OPSET, IR_VERSION = 19, 9
"""Old enough for every ONNX Runtime since 1.16; the first in which texts can be compared."""


def to_onnx(rules: RuleBase, columns: Columns | None = None) -> ModelProto:
    """The rules as an ONNX model.

    Its input ``X`` is a table (n, n_features) in the user's units and the model's precision. With ``columns`` it
    takes a raw table instead: an input (n, 1) for each column, double for numbers, where NaN is missing, and text
    for categories, where "" is missing and a text never seen is none of the categories. Classifiers give
    ``label`` and ``probabilities``, in the order of ``classes``, regressors ``value``, and both ``firing``: how
    much each rule counts.

    Parameters
    ----------
    rules : RuleBase
    columns : Columns, optional

    Returns
    -------
    onnx.ModelProto
        Write it with ``onnx.save(model, path)``.
    """
    try:
        import onnx
    except ImportError:
        raise ImportError("to_onnx needs the onnx package; pip install 'sessc[export]'.") from None
    graph = _Graph(rules, columns)
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


class _Graph:
    """Nodes and constants, one formula after the other."""

    def __init__(self, rules: RuleBase, columns: Columns | None):
        from onnx import helper

        self.helper, self.rules, self.columns = helper, rules, columns
        self.taken = set(columns.names if columns else ())
        self.dtype = rules.centers.dtype
        self.type = helper.np_dtype_to_tensor_dtype(self.dtype)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def made(self) -> Any:
        given, X = self._inputs()
        Z = self._node("Div", self._node("Sub", X, self._number(self.rules.mean)), self._number(self.rules.scale))
        firing = self._firing(Z)
        outputs = self._outputs(firing, Z)
        results = [self._value(firing, self.rules.n_rules)]
        if self.rules.classes is None:
            value = self._node("Reshape", outputs, self._integers(-1), to="value")
            results.append(self.helper.make_tensor_value_info(value, self.type, ["n"]))
        else:
            results += [self._label(outputs), self._value(self._link(outputs), self.rules.consequents.shape[2])]
        return self.helper.make_graph(self.nodes, "rules", given, results, self.constants)

    def _inputs(self) -> tuple[list[Any], str]:
        """What the graph is given, and the features it makes of it."""
        if self.columns is None:
            return [self._value("X", self.rules.n_features)], "X"
        given, parts = [], []
        for column in self.columns.each:
            kind = np.dtype(float) if isinstance(column, Number) else np.dtype(object)
            tensor = self.helper.np_dtype_to_tensor_dtype(kind)
            given.append(self.helper.make_tensor_value_info(column.name, tensor, ["n", 1]))
            parts.append(self._numbers(column) if isinstance(column, Number) else self._categories(column))
        return given, self._cast(self._node("Concat", *parts, axis=1), self.dtype)

    def _numbers(self, column: Number) -> str:
        fill = self._constant(np.asarray([column.fill]))
        return self._node("Where", self._node("IsNaN", column.name), fill, column.name)

    def _categories(self, column: Category) -> str:
        missing = self._node("Equal", column.name, self._constant(np.asarray([""], object)))
        cells = self._node("Where", missing, self._constant(np.asarray([column.fill], object)), column.name)
        values = self._constant(np.asarray([list(column.shown)], object))
        return self._cast(self._node("Equal", cells, values), np.dtype(float))

    def _firing(self, Z: str) -> str:
        """Normalised firing levels, from the logarithms of the grades."""
        rules = self.rules
        precision = np.asarray(rules.widths, float) ** -2.0
        weighted = precision * rules.centers
        linear = self._product(Z, weighted.T)
        square = self._product(self._node("Mul", Z, Z), -0.5 * precision.T)
        constant = self._number(-0.5 * np.sum(weighted * rules.centers, axis=1))
        logits = self._node("Add", self._node("Add", linear, square), constant)
        return self._node("Softmax", logits, to="firing", axis=1)

    def _outputs(self, firing: str, Z: str) -> str:
        consequents = np.asarray(self.rules.consequents, float)
        if self.rules.order == 0:
            return self._node("MatMul", firing, self._number(consequents[:, 0]))
        n_rules, _, n_outputs = consequents.shape
        slopes = np.moveaxis(consequents[:, 1:], 1, 0).reshape(self.rules.n_features, -1)
        says = self._node("Add", self._product(Z, slopes), self._number(consequents[:, 0].ravel()))
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
