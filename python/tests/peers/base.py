"""What ir_measures' tests stand on, which its source distribution lacks."""

import unittest


class BaseMeasureTest(unittest.TestCase):
    def assertMetrics(self, found, expected, not_equal=False):  # noqa: N802
        found, expected = ({(of.query_id, of.measure): of.value for of in metrics} for metrics in (found, expected))
        self.assertEqual(found.keys(), expected.keys())
        same = all(abs(value - expected[key]) < 1e-5 for key, value in found.items())
        self.assertEqual(same, not not_equal, (found, expected))
