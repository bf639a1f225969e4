"""The ladder's table from made-up runs: what a shared load feeds, and how far the predictions are off."""
import json
import sys
import tempfile
import types
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
import ladder_results  # noqa: E402
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

    def test_a_rung_of_another_card_is_said_to_be(self):
        problem = {"m": 4096, "n": 4096, "k": 4096, "layout": "NN", "order": "col", "alpha": 1, "beta": 0}
        with tempfile.TemporaryDirectory() as folder:
            def write(card, kernel, day):
                runs = [{"kernel": name, "config": "x", "problem": problem, "mode": "burst", "tflops": 1}
                        for name in (kernel, "wgmma_x")]
                environment = {"device": {"name": card.upper()}, "date": day}
                path = Path(folder) / f"{card}_ladder_x.json"
                path.write_text(json.dumps({"schema": "tessera.results/1", "environment": environment, "runs": runs}))
                return path

            paths = [write("h200", "01_a", "2026-11-01"), write("h100", "47_b", "2026-11-02")]
            results = types.SimpleNamespace(timed=ladder_results.merged(paths))
        self.assertEqual(ladder_table.times_words(results),
                         "Times: H200, 2026-11-01, square column-major NN, burst; `results/ladder/h200_ladder_*.json`; "
                         "in 47 H100, 2026-11-02, `results/ladder/h100_ladder_*.json`.")


if __name__ == "__main__":
    unittest.main()
