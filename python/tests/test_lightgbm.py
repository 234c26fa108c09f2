"""laneval.lightgbm, over what it calls, and with LightGBM where it is installed."""

import numpy as np
import pytest

import laneval
import laneval.lightgbm


class Data:
    """What LightGBM hands to `feval`."""

    def __init__(self, labels, sizes):
        self.labels, self.sizes = np.array(labels, dtype=np.float32), sizes

    def get_label(self):
        return self.labels

    def get_group(self):
        return None if self.sizes is None else np.array(self.sizes, dtype=np.int32)


def test_values():
    feval = laneval.lightgbm.metric(["recip_rank", "nDCG(gain=exp2)@2", "Unjudged@1"])
    found = feval(np.array([0.1, 0.9, 0.3, 0.2, 0.4, 0.6]), Data([1, 0, 2, 1, 0, 0], [2, 3, 1]))
    assert [(name, higher) for name, _, higher in found] == [("RR", True), ("nDCG(gain=exp2)@2", True), ("Unjudged@1", False)]
    assert [value for _, value, _ in found] == pytest.approx([1 / 3, (1 / np.log2(3) + 3 / np.log2(3) / (3 + 1 / np.log2(3))) / 3, 0.0])
    assert all(type(value) is float for _, value, _ in found)


def test_what_goes_wrong():
    with pytest.raises(laneval.MeasureError):
        laneval.lightgbm.metric("nDCGG@10")
    with pytest.raises(laneval.UnanswerableError, match="no groups"):
        laneval.lightgbm.metric("AP")(np.zeros(2), Data([0, 1], None))


def test_training():
    lightgbm = pytest.importorskip("lightgbm")
    draw = np.random.default_rng(5)
    features, sizes = draw.random((600, 4)), [20] * 30
    grades = (features[:, 0] * 3).astype(int)
    data = lightgbm.Dataset(features, label=grades, group=sizes)
    parameters = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "verbose": -1, "num_threads": 1}
    history = {}
    lightgbm.train(
        parameters,
        data,
        num_boost_round=5,
        valid_sets=[data],
        valid_names=["train"],
        feval=laneval.lightgbm.metric(["nDCG(gain=exp2)@10", "AP"]),
        callbacks=[lightgbm.record_evaluation(history)],
    )
    assert list(history["train"]) == ["ndcg@10", "nDCG(gain=exp2)@10", "AP"]
    assert len(history["train"]["AP"]) == 5 and history["train"]["AP"][-1] > 0.9
    # Every query has relevant documents, so both are the same where scores differ.
    assert history["train"]["nDCG(gain=exp2)@10"][-1] == pytest.approx(history["train"]["ndcg@10"][-1], abs=0.05)
