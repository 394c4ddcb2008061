"""Progress through scikit-learn's callbacks, and what happens where they do not exist."""

import importlib
import sys
import threading

import numpy as np
import pytest

import sessc
from sessc import FCM, SESSC, TSKClassifier, TSKClassifierCV

try:
    from sklearn.callback import ProgressBar
except ImportError:
    ProgressBar = None

needs_callbacks = pytest.mark.skipif(ProgressBar is None, reason="scikit-learn before 1.9 has no callbacks")


class Count:
    """A callback that counts tasks and may ask to stop."""

    def __init__(self, stop_after=None):
        self.begun, self.ended, self.stop_after = 0, 0, stop_after

    def setup(self, estimator, context):
        self.max_subtasks = context.max_subtasks

    def teardown(self, estimator, context):
        self.finished = True

    def on_fit_task_begin(self, estimator, context):
        self.begun += 1

    def on_fit_task_end(self, estimator, context):
        self.ended += 1
        return self.stop_after is not None and self.ended >= self.stop_after


@needs_callbacks
def test_each_iteration_is_told(blobs):
    X, y = blobs
    count = Count()
    model = SESSC(4, random_state=0).set_callbacks(count).fit(X, y)
    assert count.begun == count.ended == model.n_iter_ + 1  # and the fit as a whole
    assert count.max_subtasks == model.max_iter
    assert count.finished


@needs_callbacks
def test_a_callback_can_stop_the_fit(blobs):
    X, _ = blobs
    assert FCM(4, tol=0, random_state=0).set_callbacks(Count(stop_after=3)).fit(X).n_iter_ == 3


@needs_callbacks
def test_rule_models_and_searches_report(blobs):
    X, y = blobs
    count = Count()
    TSKClassifier(4, random_state=0).set_callbacks(count).fit(X, y)
    assert count.ended > 2
    count = Count()
    TSKClassifierCV(4, cv=3, random_state=0).set_callbacks(count).fit(X, y)
    assert count.ended == count.max_subtasks + 1


@needs_callbacks
def test_a_real_progress_bar(blobs, capsys):
    X, y = blobs
    pytest.importorskip("rich")
    TSKClassifierCV(4, cv=3, random_state=0).set_callbacks(ProgressBar()).fit(X, y)
    assert "TSKClassifierCV" in capsys.readouterr().out


def test_callbacks_change_no_result(blobs):
    X, y = blobs
    if ProgressBar is None:
        pytest.skip("scikit-learn before 1.9 has no callbacks")
    plain = SESSC(4, random_state=0).fit(X, y)
    watched = SESSC(4, random_state=0).set_callbacks(Count()).fit(X, y)
    np.testing.assert_array_equal(plain.cluster_centers_, watched.cluster_centers_)


def test_the_stand_in_for_old_versions(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    progress = importlib.reload(sessc._progress)
    try:
        assert not hasattr(progress.CallbackSupportMixin, "set_callbacks")
        assert progress.with_callbacks(abs) is abs
        assert progress.Progress(FCM(), 3, "iteration").step() is False
    finally:
        monkeypatch.undo()
        importlib.reload(sessc._progress)


def test_long_steps_are_not_silent(monkeypatch):
    """What has been heard of an estimator is said again while nothing new is."""
    from sessc import _progress

    monkeypatch.setattr(_progress, "SILENCE", 0.5)
    said, heard = [], threading.Event()

    def say(line):
        said.append(line)
        heard.set()

    with _progress.Muttering(say, seconds=3600.0) as muttering:
        estimator = FCM()
        muttering.listen_to(estimator)
        estimator._count_steps(2, 9, "candidate")
        assert heard.wait(60)
    assert said[0].startswith("still at work, candidate 2 of at most 9 done, after ")
