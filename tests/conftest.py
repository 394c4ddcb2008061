import importlib.util
import os

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported: GPU kernels then run without a GPU
os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported: some of scikit-learn's checks skip without it

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("default")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


BACKENDS = ["numpy", "array_api_strict", "torch"]


@pytest.fixture(params=BACKENDS)
def xp(request):
    """Every array library that is installed; the strict one catches most mistakes that a GPU would."""
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return importlib.import_module(request.param)


@pytest.fixture
def blobs(rng):
    """Three classes in five clusters in four features, one of them noise, and one constant column."""
    centers = rng.normal(0, 4, size=(5, 3))
    group = rng.integers(5, size=240)
    X = np.column_stack([centers[group] + rng.normal(size=(240, 3)), rng.normal(size=240), np.full(240, 7.0)])
    return X, group % 3
