"""The table of goals from made-up files: what counts, what is missed, what was not measured."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
import goal_tables  # noqa: E402
from goal_tables import Goal, squares  # noqa: E402

SQUARE = Goal("squares", ("bf16",), squares(64), 1.0, 1.1)


def run(type_, shape, layout, ratio, tflops=100, **more):
    m, n, k = shape[-3:]
    problem = {"type": type_, "m": m, "n": n, "k": k, "layout": layout}
    if len(shape) == 4:
        problem["batch"] = {"count": shape[0]}
    return {"problem": problem, "mode": "burst", "verified": "full", "tflops": tflops,
            "ratio_to_vendor": ratio, **more}


def all_layouts(type_, shape, ratios, **more):
    return [run(type_, shape, layout, ratio, **more) for layout, ratio in zip(("NN", "NT", "TN", "TT"), ratios)]


class Goals(unittest.TestCase):
    def row(self, goal, *files):
        """`files`: (path below results, date, runs)."""
        with tempfile.TemporaryDirectory() as folder:
            for path, date, runs in files:
                file = Path(folder) / "results" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps({"schema": "tessera.results/1", "environment": {"date": date},
                                            "runs": runs}))
            return goal_tables.row_of(goal, goal_tables.newest_runs(Path(folder)), goal.types[0])

    def test_reached_and_missed(self):
        reached = self.row(SQUARE, ("tensor/a.json", "1", all_layouts("bf16", (64,) * 3, (1.0, 1.0, 1.0, 1.21))))
        self.assertEqual(reached, ["BF16", "squares", "1.00, 1.10", "64: 1.05", "1.00, NN of 64", "yes"])
        missed = self.row(SQUARE, ("tensor/a.json", "1", all_layouts("bf16", (64,) * 3, (0.9, 0.9, 0.9, 0.9))))
        self.assertEqual(missed[3:], ["**64: 0.90**", "0.90, NN of 64", "no, -10.0 %"])

    def test_a_layout_may_be_three_percent_below(self):
        files = [("tensor/a.json", "1", all_layouts("bf16", (64,) * 3, (low, 1.2, 1.2, 1.2))) for low in (0.975, 0.96)]
        self.assertEqual([self.row(SQUARE, file)[-1] for file in files], ["yes", "no, -1.0 %"])

    def test_what_was_not_measured_is_said(self):
        self.assertEqual(self.row(SQUARE)[3:], ["64: not measured", "-", "not measured"])
        some = self.row(SQUARE, ("tensor/a.json", "1", [run("bf16", (64,) * 3, "NT", 1.2)]))
        self.assertEqual(some[3:], ["64: 1.20 (NT)", "1.20, NT of 64", "as far as measured"])

    def test_the_newest_verified_run_counts_and_variants_do_not(self):
        row = self.row(SQUARE, ("h200_new.json", "2", [run("bf16", (64,) * 3, "NN", 1.1)]),
                       ("tensor/old.json", "1", [run("bf16", (64,) * 3, "NN", 1.3)]),
                       ("tensor/x_variants.json", "3", [run("bf16", (64,) * 3, "NN", 1.4)]),
                       ("tensor/wrong.json", "4", [run("bf16", (64,) * 3, "NN", 1.5, verified="wrong")]),
                       ("tensor/less.json", "5", [run("bf16", (64,) * 3, "NN", 1.6, workspace_limit=1)]))
        self.assertEqual(row[3], "64: 1.10 (NN)")

    def test_batches_and_layouts_of_a_goal(self):
        goal = Goal("batches", ("f32",), ((8, 16, 16, 16),), 2.0, 4.0, layouts=("NT",))
        row = self.row(goal, ("batches/a.json", "1", all_layouts("f32", (8, 16, 16, 16), (1, 2.5, 1, 1))),
                       ("tensor/a.json", "2", all_layouts("f32", (16, 16, 16), (1, 1, 1, 1))))
        self.assertEqual(row[3:], ["8 x (16): 2.50", "2.50, NT of 8 x (16)", "yes"])

    def test_odd_sizes_are_beside_our_own(self):
        goal = Goal("odd", ("f64",), squares(63), 0.7, 0.8, neighbour=64)
        row = self.row(goal, ("tensor/a.json", "1", all_layouts("f64", (63,) * 3, (9, 9, 9, 9), tflops=60) +
                              all_layouts("f64", (64,) * 3, (1, 1, 1, 1), tflops=80)))
        self.assertEqual(row[3:], ["63: 0.75", "0.75, NN of 63", "yes"])

    def test_joules_stand_beside_sustained_ones(self):
        goal = Goal("hot", ("bf16",), squares(64), 1.0, 1.1, mode="sustained")
        energy = {"joules_per_tflop": 1.05, "vendor_joules_per_tflop": 1.04}
        row = self.row(goal, ("tensor/a.json", "1", all_layouts("bf16", (64,) * 3, (1, 1, 1, 1), mode="sustained",
                                                                verified=None, energy=energy)))
        self.assertEqual(row[3], "64: 1.00, 1.05 J/TFLOP (vendor 1.04)")


if __name__ == "__main__":
    unittest.main()
