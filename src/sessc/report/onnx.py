"""Rules as an ONNX graph, which other programs and languages can run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..rules import Proportions, RuleBase, Softmax

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["to_onnx"]

OPSET, IR_VERSION = 18, 9
"""Old enough for every ONNX Runtime since 1.14."""


def to_onnx(rules: RuleBase) -> ModelProto:
    """The rules as an ONNX model.

    Its input ``X`` is a table (n, n_features) in the user's units and the model's precision. Classifiers give
    ``label`` and ``probabilities``, in the order of ``classes``, regressors ``value``, and both ``firing``: how
    much each rule counts.

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
        raise ImportError("to_onnx needs the onnx package; pip install 'sessc[export]'.") from None
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


class _Graph:
    """Nodes and constants, one formula after the other."""

    def __init__(self, rules: RuleBase):
        from onnx import helper

        self.helper, self.rules = helper, rules
        self.dtype = rules.centers.dtype
        self.type = helper.np_dtype_to_tensor_dtype(self.dtype)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def made(self) -> Any:
        firing = self._firing()
        outputs = self._outputs(firing)
        n_rules, n_outputs = self.rules.n_rules, self.rules.consequents.shape[2]
        given = [self._value("X", self.rules.n_features)]
        results = [self._value("firing", n_rules)]
        if self.rules.classes is None:
            self._node("Reshape", outputs, self._integers(-1), to="value")
            results.append(self.helper.make_tensor_value_info("value", self.type, ["n"]))
        else:
            self._link(outputs)
            results += [self._label(outputs), self._value("probabilities", n_outputs)]
        return self.helper.make_graph(self.nodes, "rules", given, results, self.constants)

    def _firing(self) -> str:
        """Normalised firing levels, from the logarithms of the grades."""
        rules = self.rules
        precision = np.asarray(rules.widths, float) ** -2.0
        weighted = precision * rules.centers
        self._node("Div", self._node("Sub", "X", self._number(rules.mean)), self._number(rules.scale), to="Z")
        linear = self._node("MatMul", "Z", self._number(weighted.T))
        square = self._node("MatMul", self._node("Mul", "Z", "Z"), self._number(-0.5 * precision.T))
        constant = self._number(-0.5 * np.sum(weighted * rules.centers, axis=1))
        logits = self._node("Add", self._node("Add", linear, square), constant)
        return self._node("Softmax", logits, to="firing", axis=1)

    def _outputs(self, firing: str) -> str:
        consequents = np.asarray(self.rules.consequents, float)
        if self.rules.order == 0:
            return self._node("MatMul", firing, self._number(consequents[:, 0]))
        n_rules, _, n_outputs = consequents.shape
        slopes = self._number(np.moveaxis(consequents[:, 1:], 1, 0).reshape(self.rules.n_features, -1))
        says = self._node("Add", self._node("MatMul", "Z", slopes), self._number(consequents[:, 0].ravel()))
        says = self._node("Reshape", says, self._integers(-1, n_rules, n_outputs))
        weight = self._node("Unsqueeze", firing, self._integers(2))
        return self._node("ReduceSum", self._node("Mul", weight, says), self._integers(1), keepdims=0)

    def _link(self, outputs: str) -> None:
        if isinstance(self.rules.link, Softmax):
            self._node("Softmax", outputs, to="probabilities", axis=1)
            return
        assert isinstance(self.rules.link, Proportions)
        zero, one = self._number(np.zeros(1)), self._number(np.ones(1))
        positive = self._node("Max", outputs, zero)
        total = self._node("ReduceSum", positive, self._integers(1), keepdims=1)
        some = self._node("Greater", total, zero)
        share = self._node("Div", positive, self._node("Where", some, total, one))
        even = self._number(np.full(1, 1 / self.rules.consequents.shape[2]))
        self._node("Where", some, share, even, to="probabilities")

    def _label(self, outputs: str) -> Any:
        from onnx import numpy_helper

        classes = np.asarray(self.rules.classes)
        kinds = {"b": bool, "f": np.float64, "i": np.int64, "u": np.int64}
        tensor = numpy_helper.from_array(classes.astype(kinds.get(classes.dtype.kind, object)), "classes")
        self.constants.append(tensor)
        best = self._node("ArgMax", outputs, axis=1, keepdims=0)
        self._node("Gather", "classes", best, to="label", axis=0)
        return self.helper.make_tensor_value_info("label", tensor.data_type, ["n"])

    def _node(self, operation: str, *inputs: str, to: str | None = None, **settings: Any) -> str:
        name = to or f"{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operation, inputs, [name], **settings))
        return name

    def _number(self, array: np.ndarray) -> str:
        return self._constant(np.asarray(array, self.dtype))

    def _integers(self, *values: int) -> str:
        return self._constant(np.asarray(values, np.int64))

    def _constant(self, array: np.ndarray) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _value(self, name: str, width: int) -> Any:
        return self.helper.make_tensor_value_info(name, self.type, ["n", width])
