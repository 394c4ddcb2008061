"""A hunt in bounded time, and that it would find something; what it found stays found."""

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hunt.__main__ import KINDS, SHARES, cases, hunted, main
from hunt.judging import Broken, attempt, generator, is_sentence, judged
from hunt.ledger import Case, Ledger, Outcome

from sessc import (
    FCM,
    KernelEWFCM,
    RuleBase,
    TSKClassifier,
    TSKRegressor,
    TSKRegressorCV,
    UselessModelWarning,
)
from sessc.tables.files import dumps, loads

ROOT = Path(__file__).parents[1]
CASES = int(os.environ.get("HUNT_CASES_HERE", "40"))
"""The seed is the same at every run: what fails here fails everywhere. ``make hunt`` goes further."""
QUICK = ("tables", "hands", "laws", "json", "csv", "parquet", "skops")


@pytest.mark.parametrize("kind", QUICK)
def test_nothing_but_answers_and_sentences(kind, tmp_path):
    path, n = tmp_path / "ledger.jsonl", round(CASES / SHARES[kind])
    # In a process of its own: of this one, where other tests have used Polars, none can be forked.
    run = [sys.executable, "-m", "hunt", "--kinds", kind, "--seed", "20", "--cases", str(n), "--ledger", str(path)]
    ended = subprocess.run(run, cwd=ROOT, capture_output=True, text=True)
    found = list(Ledger(path))
    assert [outcome for outcome in found if outcome.verdict == "FAULT"] == []
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert len(found) == CASES
    assert "works" in {outcome.verdict for outcome in found} or kind == "skops"


def test_a_case_is_the_same_again():
    case = Case("tables", 3, 14)
    assert judged(case, KINDS["tables"]) == judged(case, KINDS["tables"])
    assert generator(case).random() != generator(Case("tables", 4, 14)).random()


def test_a_run_goes_on_where_the_last_one_stopped(tmp_path, capsys):
    path = tmp_path / "ledger.jsonl"
    arguments = ["--seed", "5", "--kinds", "hands", "--ledger", str(path)]
    assert main([*arguments, "--cases", "50"]) == 0
    path.write_text(path.read_text()[:-10])  # killed while it wrote
    assert main([*arguments, "--cases", "100"]) == 0
    assert "6 cases of seed 5 are to be run, 4 are in" in capsys.readouterr().out
    assert [outcome.number for outcome in Ledger(path)] == list(range(10))
    assert all(json.loads(line)["seed"] == 5 for line in path.read_text().splitlines() if line.endswith("}"))


@pytest.mark.parametrize(
    "trouble",
    [
        lambda rng: np.zeros(2)[7],
        lambda rng: np.float64(1e308) * 10,
        lambda rng: attempt(np.zeros(2).reshape, 3),
        lambda rng: np.add(np.zeros(2), np.zeros(3)),
        lambda rng: (_ for _ in ()).throw(Broken("a law")),
        lambda rng: os._exit(9),
    ],
)
def test_faults_are_found(trouble, tmp_path, monkeypatch):
    monkeypatch.setitem(KINDS, "tables", trouble)
    (found,) = hunted([Case("tables", 0, 0)], Ledger(tmp_path / "ledger.jsonl"))
    assert found.verdict == "FAULT"
    assert Ledger(tmp_path / "ledger.jsonl").faults == [found]


def test_one_case_may_be_run_again_by_hand(capsys):
    assert main(["--replay", "hands", "5", "1"]) == 0
    assert capsys.readouterr().out


def test_a_death_costs_one_case(tmp_path, monkeypatch):
    monkeypatch.setitem(KINDS, "tables", lambda rng: os._exit(9) if rng.random() < 0.3 else "fine")
    to_do = cases(50, 0, ("tables",))
    found = list(hunted(to_do, Ledger(tmp_path / "ledger.jsonl")))
    assert [outcome.case for outcome in found] == to_do
    assert {"FAULT", "works"} == {outcome.verdict for outcome in found}


def test_a_case_that_hangs_costs_one_case(tmp_path, monkeypatch):
    monkeypatch.setattr("hunt.__main__.LONGEST", 2)
    monkeypatch.setitem(KINDS, "tables", lambda rng: time.sleep(60) if rng.random() < 0.2 else "fine")
    to_do = cases(15, 3, ("tables",))
    found = list(hunted(to_do, Ledger(tmp_path / "ledger.jsonl")))
    assert [outcome.case for outcome in found] == to_do
    assert {"FAULT", "works"} == {outcome.verdict for outcome in found}


def test_a_sentence_is_said_by_this_package():
    with pytest.raises(ValueError, match="sparse") as said:
        FCM().fit(pytest.importorskip("scipy.sparse").eye(3))
    assert is_sentence(said.value)
    with pytest.raises(ValueError, match="cannot reshape") as raw:
        np.zeros(2).reshape(3)
    assert not is_sentence(raw.value)
    assert Outcome("tables", 1, 2, "works").case == Case("tables", 1, 2)


@pytest.fixture
def table(rng):
    return rng.normal(size=(30, 2)), np.arange(30) % 2


def test_columns_of_pandas_go_into_a_dict(table):
    X, y = table
    columns = {
        "a": X[:, 0],
        "b": pd.Categorical(np.where(X[:, 1] > 0, "x", "y")),
        "c": pd.date_range("2020", periods=30, tz="Europe/Berlin"),
        "d": pd.array(np.arange(30), "Int64"),
    }
    model = TSKClassifier(n_rules=2, random_state=0).fit(columns, y)
    np.testing.assert_array_equal(
        model.predict(columns),
        TSKClassifier(n_rules=2, random_state=0).fit(pd.DataFrame(columns), y).predict(columns),
    )


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.asarray([[10**400], [1]], object), "^X holds whole numbers too large for float64; rescale them.$"),
        ([[1.0, [2.0]], [1.0, [2.0, 3.0]]], "^X has rows of unlike length, or lists for cells"),
        ([[1.0], [1.0, 2.0]], "^X has rows of unlike length"),
        (np.asarray([[1j], [2.0]], object), "^X holds cells that are neither numbers nor text"),
        (np.asarray([[1j], [2.0]]), "^Complex data not supported: take"),
        ([1.0, 2.0, 3.0], "^Expected 2D array, got 1D array instead\\. Reshape your data"),
    ],
)
def test_what_is_no_table_is_one_line(X, message):
    for ask in (FCM(2).fit, TSKRegressor().fit):
        with pytest.raises((ValueError, TypeError), match=message) as said:
            ask(X, np.zeros(len(X)))
        assert "\n" not in str(said.value)


@pytest.mark.parametrize("labels", [10.0**160, 2.0**70])
def test_numbers_beyond_all_integers_are_no_classes(labels, table):
    X, y = table
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        TSKClassifier(n_rules=2).fit(X, labels * (y + 0.37))


def test_labels_of_several_kinds_in_an_array(table):
    with pytest.raises(ValueError, match="labels of several kinds, int and str"):
        TSKClassifier(n_rules=2).fit(table[0], np.asarray(["a", 1] * 15, object))


@pytest.mark.parametrize("scale", [1e-155, 1e-160, 1e-170, 1e-310])
@pytest.mark.parametrize("model", [TSKClassifier(n_rules=2, refine=5), KernelEWFCM(2), FCM(2)])
def test_columns_that_cannot_be_squared_do_not_vary(model, scale, table):
    """They were measured in squares that have lost their digits, and files of such rules could not be read."""
    X, y = table
    X, y = X * [scale, 1.0], (X[:, 1] > 0).astype(int)
    model.set_params(random_state=0).fit(X, y)
    answers = model.predict(X)
    if hasattr(model, "rules_"):
        np.testing.assert_array_equal(loads(dumps(model.rules_)).rules(X), answers)


def test_rules_take_lists_of_mixed_cells(table):
    X, y = table
    rows = [["blue" if one > 0 else "red", other] for one, other in X]
    y = (X[:, 1] > 0).astype(int)
    model = TSKClassifier(n_rules=2, categorical_features=[0], random_state=0).fit(rows, y)
    np.testing.assert_array_equal(model.rules_(rows), model.predict(rows))
    assert model.rules_.explain(rows[:1]).answer == model.predict(rows)[0]


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_rules_take_frames_of_single_precision_as_estimators_do(frame, rng):
    """They were asked in double precision, and a file of them, whose limits are, answered otherwise."""
    X = rng.normal(size=(40, 2)).astype(np.float32)
    X = pytest.importorskip(frame).DataFrame({"a": X[:, 0], "b": X[:, 1]})
    model = TSKRegressor(n_rules=2, refine=5, order=1, random_state=0).fit(X, rng.normal(size=40))
    for rules in (model.rules_, loads(dumps(model.rules_)).rules):
        np.testing.assert_array_equal(rules(X), model.predict(X))


@pytest.mark.parametrize(
    "condition",
    [
        {"at_least": -1e300},
        {"at_least": 5e-324},
        {"between": (-1e300, 0.0)},
        {"about": 1e150, "width": 1e-150},
        {"about": 1.0, "width": 5e-324},
        {"about": 1e-9, "width": 1e-300},
        (1e9, 1e-9),
        {"at_most": np.inf},
    ],
)
def test_absurd_conditions_are_refused(condition):
    with pytest.raises(ValueError, match=r"number|wide|computed") as said:
        RuleBase.by_hand([({"a": condition}, {"x": 0.9}), ({"a": (0.0, 1.0)}, {"y": 0.9})])
    assert is_sentence(said.value)


def test_bells_that_are_too_narrow_beside_their_column_are_refused():
    """Where their centre is that of the column nothing is lost in rounding, but their impact was infinite."""
    wishes = {"about": 1e150, "width": 1e9}, {"at_least": 1e150}
    with pytest.raises(ValueError, match=r"'b' about 1e\+150 \(± 1e\+09\) is more than can be computed with"):
        RuleBase.by_hand([({"b": wish}, {answer: 0.9}) for wish, answer in zip(wishes, "xy", strict=True)])


def test_targets_that_only_rounding_tells_apart(rng):
    """How well rules do was minus infinity, and no file could be written."""
    X, y = rng.normal(size=(2, 2)), np.asarray([1e16, 1e16 + 2])
    model = TSKRegressor(n_rules=2, refine=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(loads(dumps(model.rules_)).rules(X), model.predict(X))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scores_that_cannot_be_squared_are_compared(seed):
    """R² of a fold is as large as its targets are small beside those that were learned from."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 2)), 10.0 ** np.where(np.arange(20) == 7, 90, rng.uniform(-90, -80, size=20))
    search = TSKRegressorCV(n_rules=(1, 2), order=0, refine=3, parsimony=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UselessModelWarning)
        found = search.fit(X, y).cv_results_
    assert np.min(found["mean_test_score"]) < -1e200
    assert all(np.all(np.isfinite(found[f"{what}_test_score"])) for what in ("mean", "std"))


def test_rules_are_measured_on_targets_that_are_nothing_beside_those_learned_from(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    rules = TSKRegressor(n_rules=2, random_state=0).fit(X, 1e100 * y).rules_
    measured = rules.evaluate(X, 1e-100 * y)
    assert "R²" not in measured.measures  # more than there are numbers for
    assert all(np.isfinite(value) for value in measured.measures.values())
    assert np.isfinite(rules.observe(X, 1e-100 * y).score)


def test_weights_that_are_too_unlike(table):
    X, y = table
    weight = np.ones(30)
    weight[0], weight[1] = 1e-97, 1e75
    with pytest.raises(ValueError, match="as small as 1e-97 beside others of 1e\\+75"):
        TSKClassifier(n_rules=2).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("model", [KernelEWFCM(2), FCM(2), TSKClassifier(n_rules=2)])
@pytest.mark.parametrize("light", [1e-31, 1e-17])
def test_missing_cells_of_rows_that_weigh_next_to_nothing(model, light, table):
    """Beside the others their weights were rounded away, and their gaps went through as NaN."""
    X, y = table
    X[0, 1], weight = np.nan, np.where(np.arange(30) == 0, light, 1.0)
    model.set_params(random_state=0).fit(X, y, sample_weight=weight)
    firm = model.predict(X[1:])
    assert np.array_equal(model.fit(X[1:], y[1:]).predict(X[1:]), firm)


def test_weights_and_values_whose_products_overflow(table):
    X, y = table
    with pytest.raises(
        ValueError, match="X and sample_weight are so large that products of them overflow float64"
    ):
        TSKRegressor(n_rules=2, refine=2).fit(1e140 * X, y, sample_weight=np.full(30, 1e140))


def test_levels_that_are_infinite_are_not_saved(table):
    X, y = table
    X = np.c_[np.where(y, np.inf, 0.0), X[:, 1]]
    rules = TSKClassifier(n_rules=2, categorical_features=[0], random_state=0).fit(X, y).rules_
    for save in (dumps, RuleBase.to_html):
        with pytest.raises(ValueError, match="levels of 'x0' must be text or finite numbers to be saved, got inf"):
            save(rules)


def test_levels_too_rare_and_large_are_not_saved(rng):
    """They are pooled, and a file that names them could not be read."""
    X, y = np.c_[1e307 * np.arange(1.0, 9)[rng.integers(0, 8, 40)], rng.normal(size=40)], np.arange(40) % 2
    rules = TSKRegressor(n_rules=2, categorical_features=[0], random_state=0).fit(X, y).rules_
    with pytest.raises(ValueError, match="levels of 'x0' must be text or finite numbers"):
        dumps(rules)


def test_rules_that_are_all_right_are_shortened(rng):
    """The promise of a condition was infinite where no loss was left to fall."""
    X = rng.normal(size=(20, 2))
    model = TSKRegressor(n_rules=3, refine=5, conditions=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UselessModelWarning)
        assert np.all(np.isfinite(model.fit(X, np.zeros(20)).predict(X)))


def test_commands_that_go_wrong(tmp_path):
    """Those that go wrong alike whenever they run; ``make hunt`` stops many at random moments."""
    from hunt.commands import TROUBLES

    for name in ("full disk", "closed folder"):
        (tmp_path / name).mkdir()
        with warnings.catch_warnings():
            assert TROUBLES[name](np.random.default_rng(1), tmp_path / name)


def test_the_command_says_how_to_go_on():
    said = subprocess.run(
        [sys.executable, "-m", "hunt", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert "--replay" in said
