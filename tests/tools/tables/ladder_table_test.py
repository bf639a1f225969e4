"""The ladder's table from made-up runs: what a shared load feeds, and how far the predictions are off."""
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
import ladder_table  # noqa: E402
import run_counts  # noqa: E402


def counted(per_load, matrix=0):
    return {"counts": {"fma_per_shared_load": per_load, "matrix": {"warp": matrix}}}


class LadderTable(unittest.TestCase):
    def test_shared_loads_feed_useful_fmas(self):
        self.assertEqual(run_counts.fmas_per_shared_load(counted(16)), 16)

    def test_on_tensor_cores_there_is_no_such_number(self):
        self.assertEqual(run_counts.fmas_per_shared_load(counted(16, matrix=3)), 0)

    def test_the_legend_names_the_worst_prediction(self):
        words = ladder_table.error_words({"01": 0.02, "12": -0.3, "24": 0.1})
        self.assertEqual(words, " In this table the predicted time is off by 10 % at the median, "
                                "and by 30 % in 12.")
        self.assertEqual(ladder_table.error_words({}), "")


if __name__ == "__main__":
    unittest.main()
