import numpy as np
import pytest

from sessc.datasets import NAMES, load, make_circles, make_quadrants, make_spiral, make_waveform


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """No folder of the machine is looked at, and no network."""
    monkeypatch.delenv("SESSC_DATA", raising=False)
    monkeypatch.setenv("SESSC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SESSC_UCI", (tmp_path / "repository").as_uri())


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
    from sessc.datasets.loading import _parse

    header, data, target = _parse("a,b,target\n1.50,,x\n2,3,y\n")
    assert header == ["a", "b"]
    np.testing.assert_array_equal(data, [[1.5, np.nan], [2, 3]])
    assert target.tolist() == ["x", "y"]


def test_quadrants():
    X, y = make_quadrants(500, random_state=0)
    np.testing.assert_array_equal(y == 0, (X > 0).all(axis=1))
    np.testing.assert_array_equal(y == 2, (X <= 0).all(axis=1))
    assert np.all(np.bincount(y) > 90)


def test_circles():
    X, y = make_circles(600, noise=0.05, random_state=0)
    radius = np.hypot(*X.T)
    np.testing.assert_array_equal(radius > 1.5, y == 1)


def test_spiral_arms_are_turned_by_half_a_circle():
    X, y = make_spiral(400, noise=0.0, random_state=0)
    from sklearn.neighbors import KNeighborsClassifier

    whole = np.concatenate([X, -X])  # turning an arm by half a circle gives the other
    assert KNeighborsClassifier(1).fit(whole, np.concatenate([y, 1 - y])).score(X, y) == 1
    assert np.hypot(*X.T).max() <= 3


def test_waveform_is_the_problem_of_the_uci_file():
    """Means of the classes are those of the definition, and the best known accuracy is about 86 %."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y = make_waveform(6000, random_state=0)
    assert X.shape == (6000, 21)
    # halves of waves of height 6 that fall by one at each point
    assert X[y == 0].mean(axis=0)[[6, 10, 14]] == pytest.approx([3, 2, 3], abs=0.15)
    assert X[y == 1].mean(axis=0)[[6, 10, 14]] == pytest.approx([4, 4, 1], abs=0.15)
    assert X[y == 2].mean(axis=0)[[6, 10, 14]] == pytest.approx([1, 4, 4], abs=0.15)
    assert 0.82 < LinearDiscriminantAnalysis().fit(X[:3000], y[:3000]).score(X[3000:], y[3000:]) < 0.89


@pytest.mark.parametrize("make", [make_quadrants, make_circles, make_spiral, make_waveform])
def test_generators_repeat_themselves(make):
    for a, b in zip(make(50, random_state=3), make(50, random_state=3), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(make(50, random_state=3)[0], make(50, random_state=4)[0])


def test_a_folder_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("SESSC_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"nowhere.*does not exist"):
        load("vehicle")
