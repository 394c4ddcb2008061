import numpy as np
import pytest

from sessc.datasets import NAMES, load


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """No folder of the machine is looked at."""
    monkeypatch.delenv("SESSC_DATA", raising=False)
    monkeypatch.setenv("SESSC_CACHE", str(tmp_path / "cache"))


def test_wdbc_needs_nothing():
    bunch = load("wdbc")
    assert bunch.data.shape == (569, 30)
    assert list(bunch.target_names) == ["B", "M"]
    assert bunch.feature_names[0] == "radius_mean"
    assert bunch.feature_names[-1] == "fractal_dimension_worst"
    X, y = load("wdbc", return_X_y=True)
    assert X[0, 0] == 17.99
    assert (y == "B").sum() == 357


def test_frames():
    pytest.importorskip("pandas")
    X, y = load("wdbc", return_X_y=True, as_frame=True)
    assert list(X.columns) == load("wdbc").feature_names
    assert y.name == "target"


def test_without_a_copy_one_sentence_says_what_to_do():
    with pytest.raises(FileNotFoundError, match=r"vehicle\.csv.*SESSC_DATA"):
        load("vehicle")


def test_a_changed_table_is_refused(monkeypatch, tmp_path):
    (tmp_path / "vehicle.csv").write_text("a,target\n1,x\n")
    monkeypatch.setenv("SESSC_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="hash differs"):
        load("vehicle")


def test_unknown_names():
    with pytest.raises(ValueError, match="got 'iris'"):
        load("iris")
    assert len(NAMES) == 9


def test_missing_cells_are_nan():
    from sessc.datasets import _parse

    header, data, target = _parse("a,b,target\n1.50,,x\n2,3,y\n")
    assert header == ["a", "b"]
    np.testing.assert_array_equal(data, [[1.5, np.nan], [2, 3]])
    assert target.tolist() == ["x", "y"]
