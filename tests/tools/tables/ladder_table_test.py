"""The ladder's table from made-up runs: what a shared load feeds, and how far the predictions are off."""
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
import ladder_table  # noqa: E402
import run_counts  # noqa: E402


def with_shared(**wavefronts):
    """A run whose shared memory takes two requests of each kind, and so many wavefronts."""
    def banks(kind):
        return {rule: {"wavefronts": wavefronts.get(kind, 0), "excess": 0} for rule in ("pair", "plain")}

    kinds = ("loads", "stores", "atomics", "copies_in", "copies_out", "copies_reduce")
    memory = {kind: {"shared": {"requests": 2 if kind in wavefronts else 0, **banks(kind)}} for kind in kinds}
    per = {"requested": 1, "sector": 1, "footprint": 1}
    return {"counts": {"memory": memory, "matrix": {"warp": 0}, "flop_per_byte": per}}


class LadderTable(unittest.TestCase):
    def test_an_asynchronous_copy_stores_to_shared_memory(self):
        rows = run_counts.memory_rows(with_shared(loads=2, copies_in=8), 1)
        self.assertEqual(rows["shared loads: wavefronts per request"], "1")
        self.assertEqual(rows["shared stores: wavefronts per request"], "4")

    def test_the_legend_names_the_worst_prediction(self):
        words = ladder_table.error_words({"01": 0.02, "12": -0.3, "24": 0.1})
        self.assertEqual(words, " In this table the predicted time is off by 10 % at the median, "
                                "and by 30 % in 12.")
        self.assertEqual(ladder_table.error_words({}), "")


if __name__ == "__main__":
    unittest.main()
