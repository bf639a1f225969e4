"""The report of the drawn suite: means, losses, regret, and the file that is shown."""
import json
import lzma
import math
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools" / "tables"))
import drawn_tables  # noqa: E402


def cell(ratio, kind="square", type_="bf16", stride="16", number=0, **more):
    problem = {"m": 64, "n": 64, "k": 64, "type": type_, "layout": "TN", "order": "col", "lda": 64, "ldb": 64,
               "ldd": 64}
    timed = {"protocol": "quick", "time_ms": {"median": 1.0}, "kernel": "simt_f32/64x64",
             "vendor": {"name": "cuBLAS default", "time_ms": {"median": ratio or 1.0}},
             "ratio_to_vendor": ratio} if ratio else {"reason": "no kernel takes it"}
    return {"cell": number, "class": kind, "stride": stride, "tokens": 0, "problem": problem, **timed, **more}


def file_of(cells, date="2026-11-26T00:00:00Z", schema=drawn_tables.SCHEMA):
    return {"schema": schema, "cells": cells, "name": "results/drawn/a.json",
            "environment": {"device": {"name": "NVIDIA H100"}, "date": date, "commit": "1a2b3c4d5e6f",
                            "libraries": {"vendor": "cuBLAS 13"}, "suite": {"seed": 7, "cells": len(cells), "protocol": "all"}}}


class DrawnTables(unittest.TestCase):
    def test_means_and_shares(self):
        cells = [cell(2.0), cell(0.5), cell(0.9), cell(1.0, stride="odd")]
        self.assertEqual(drawn_tables.group_row("all", cells),
                         ["all", "4", f"**{0.9 ** 0.25:.3f}**", f"{0.9 ** 0.25:.3f}", "0.56-1.85", "50.0 %",
                          "25.0 %", "0.50"])
        text = drawn_tables.body(file_of(cells))
        self.assertIn(f"| all without odd strides | 3 | **{0.9 ** (1 / 3):.3f}**", text)
        self.assertIn("2 cells below 0.97 were not timed again", text)

    def test_a_plan_without_the_limit_has_its_own_column(self):
        cells = [cell(0.5, without_limit={"ratio_to_vendor": 2.0, "workspace_bytes": 3 << 20}), cell(2.0)]
        self.assertEqual(drawn_tables.group_row("all", cells)[2:4], ["**1.000**", "2.000"])
        self.assertIn("Without the limit 1 plans are others; they take 3 MiB in the median",
                      drawn_tables.body(file_of(cells)))

    def test_whole_reports_stand_side_by_side(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "results/drawn"
            place.mkdir(parents=True)
            for name, ratio, date, count in (("a", 0.5, "2026-11-26", 1000), ("b", 0.8, "2026-11-27", 1000),
                                             ("part", 9.0, "2026-11-28", 50)):
                file = file_of([cell(ratio), cell(None)] * (count // 2), date)
                file["environment"]["suite"]["cells"] = 1000
                text = json.dumps(file).encode()
                compressed = name == "b"
                (place / f"{name}.json{'.xz' if compressed else ''}").write_bytes(
                    lzma.compress(text) if compressed else text)
            text = drawn_tables.sections(Path(folder))["drawn_reports"]
        self.assertIn("| all | 0.500 | 0.800 |", text)
        self.assertIn("| below 0.85 | 100.0 % | 100.0 % |", text)

    def test_two_tables_have_a_mean_in_which_equal_plans_are_alike(self):
        cells = [{"plan": ["a"]}, {"plan": ["a"], "other": ["b"], "ratio_to_other": 4.0},
                 {"plan": ["a"], "other": ["b"], "ratio_to_other": 0.5}, {"reason": "none"}]
        file = file_of(cells, schema=drawn_tables.TWO_TABLES)
        file["environment"]["suite"]["name"] = "goals"
        self.assertEqual(drawn_tables.costs_row(file),
                         ["goals, seed 7", "3", "2", f"{2 ** (1 / 3):.4f}", f"{2 ** 0.5:.3f}", "1", "0.50"])

    def test_the_sweep_that_is_shown_is_of_the_drawn_suite(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "results/drawn/sweep"
            place.mkdir(parents=True)
            for name, date in (("drawn", "2026-11-26"), ("goals", "2026-11-27")):
                file = file_of([], date, drawn_tables.SWEEP)
                file["environment"]["suite"]["name"] = name
                (place / f"{name}.json").write_text(json.dumps(file))
            self.assertEqual(drawn_tables.load(Path(folder), "results/drawn/sweep", drawn_tables.SWEEP)["name"],
                             "results/drawn/sweep/drawn.json")

    def test_a_cell_without_a_figure_is_told(self):
        text = drawn_tables.body(file_of([cell(1.0), cell(None)]))
        self.assertIn("1 cells have no ratio: no kernel takes it", text)
        self.assertIn("| all | 1 |", text)

    def test_the_worst_are_the_lowest_by_class(self):
        cells = [cell(0.5 + i / 100, kind="batch" if i % 2 else "square", number=i) for i in range(20)]
        rows = drawn_tables.worst_rows(cells)
        self.assertEqual([row[4] for row in rows],
                         ["0.50", "0.52", "0.54", "0.56", "0.58", "0.51", "0.53", "0.55", "0.57", "0.59"])

    def test_scatter_is_of_the_cells_timed_both_ways_alone(self):
        both = [cell(1.0, both_ways=True, quick={"time_ms": 1.0, "vendor_ms": 1.1, "ratio_to_vendor": 1.1}),
                cell(1.0, both_ways=True, quick={"time_ms": 1.0, "vendor_ms": 0.9, "ratio_to_vendor": 0.9})]
        again = cell(1.0, quick={"time_ms": 1.0, "vendor_ms": 5.0, "ratio_to_vendor": 5.0})
        text = drawn_tables.scatter(file_of(both + [again]))
        self.assertIn("| quick ratio over full ratio | 2 | 0.995 | 14.2 % |", text)
        self.assertEqual(drawn_tables.scatter(file_of([again])), drawn_tables.NOTHING)

    def test_regret_and_coverage(self):
        swept = cell(None, vendor={"name": "x", "ms": [3.0, 3.0, 3.0]})
        swept["configs"] = [["taken", "-", 0, [1], [2.0, 2, 2]], ["best", "-", 0, [1], [1.5, 1, 2]],
                            ["wrong", "-", 0, [1], "sampled entries"]]
        found = drawn_tables.regret_of(swept)
        self.assertTrue(math.isclose(found["regret"], 4 / 3))
        self.assertEqual((found["coverage"], found["best"]), (2.0, "best"))
        text = drawn_tables.sweep_body(file_of([swept], schema=drawn_tables.SWEEP))
        self.assertIn("| all | 1 | 1.333 |", text)
        self.assertIn("3 configs of 1 cells: all; 1 without a time", text)

    def test_a_choice_that_is_wrong_has_no_regret(self):
        swept = cell(None)
        swept["configs"] = [["taken", "-", 0, [1], "wrong"], ["best", "-", 0, [1], [1, 1, 1]]]
        self.assertIsNone(drawn_tables.regret_of(swept))

    def test_the_newest_file_is_shown(self):
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root) / "results/drawn"
            folder.mkdir(parents=True)
            (folder / "a.json").write_text(json.dumps(file_of([cell(1.5)], "2026-11-27T00:00:00Z")))
            (folder / "b.json").write_text(json.dumps(file_of([cell(0.5)], "2026-11-26T00:00:00Z")))
            self.assertIn("**1.500**", drawn_tables.sections(Path(root))["drawn"])
            self.assertEqual(len(list(drawn_tables.pictures(Path(root)))), 2)

    def test_colours_tell_wins_from_losses(self):
        for theme in ("light", "dark"):
            loss, even, win = (drawn_tables.colour_of(r, theme) for r in (0.5, 1.0, 2.0))
            self.assertEqual(len({loss, even, win}), 3)
            self.assertEqual(loss, drawn_tables.colour_of(0.1, theme))


if __name__ == "__main__":
    unittest.main()
