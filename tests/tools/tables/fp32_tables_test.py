"""The FP32 table from made-up files: which runs count, means, goals, losses, the headline."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
import fp32_tables  # noqa: E402


def run(size, layout, tflops, ratio, mode="burst", verified="full", config="256x128", energy=None):
    m, n, k = size if isinstance(size, tuple) else (size,) * 3
    return {"kernel": "simt_f32", "config": config, "mode": mode, "verified": verified,
            "problem": {"m": m, "n": n, "k": k, "layout": layout}, "tflops": tflops,
            "ratio_to_vendor": ratio, "energy": energy}


def all_layouts(size, tflops, ratios, **more):
    return [run(size, layout, speed, ratio, **more)
            for layout, speed, ratio in zip(fp32_tables.LAYOUTS, tflops, ratios)]


class Tables(unittest.TestCase):
    def sections(self, **files):
        """`files`: name = (date, runs)."""
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder) / "results"
            results.mkdir()
            for name, (date, runs) in files.items():
                environment = {"date": date, "device": {"name": "A GPU", "driver": "1.2"},
                               "libraries": {"vendor": "a library"}}
                file = {"schema": "tessera.results/1", "environment": environment, "runs": runs}
                (results / f"h200_{name}.json").write_text(json.dumps(file))
            return fp32_tables.sections(Path(folder))

    def row(self, sections, name):
        lines = [line for line in sections["fp32"].splitlines() if line.startswith(f"| {name} |")]
        self.assertEqual(len(lines), 1, sections["fp32"])
        return [cell.strip() for cell in lines[0].strip("|").split("|")]

    def test_nothing_is_invented(self):
        for sections in (self.sections(),
                         self.sections(fp32=("2026-01-01", [run(512, "NN", 20, 1.4,
                                                                verified=None)]))):
            self.assertEqual(sections, {name: fp32_tables.NOTHING
                                        for name in ("fp32", "fp32_headline", "fp32_short")})

    def test_a_row_has_all_layouts_and_both_means(self):
        sections = self.sections(fp32=("2026-01-01", all_layouts(
            8192, (58, 59, 60, 61), (1.08, 1.10, 1.12, 1.21))))
        row = self.row(sections, "8192")
        self.assertEqual(row[2:6], ["58.0 (1.08)", "59.0 (1.10)", "60.0 (1.12)", "61.0 (1.21)"])
        self.assertEqual(row[6], "59.5")
        self.assertEqual(row[8], "1.13")  # the fourth root of 1.08 * 1.10 * 1.12 * 1.21
        self.assertEqual(row[-1], "yes")
        self.assertIn("59.5 TFLOP/s at 8192, 1.13 times", sections["fp32_headline"])
        self.assertIn("1 of 1", sections["fp32_headline"])

    def test_the_short_table_holds_whole_squares_alone(self):
        sections = self.sections(fp32=("2026-01-01", [
            *all_layouts(8192, (58, 59, 60, 61), (1.08, 1.10, 1.12, 1.21)),
            *all_layouts(4095, (50, 50, 50, 50), (1, 1, 1, 1)), run(4096, "NN", 50, 1.1)]))
        rows = sections["fp32_short"].splitlines()[2:]
        self.assertEqual(rows, ["| 8192 | 59.5 | 52.8 | 1.13 |"])

    def test_losses_are_shown_and_counted(self):
        sections = self.sections(fp32=("2026-01-01", all_layouts(
            8192, (58, 59, 60, 61), (1.2, 1.2, 1.05, 1.2)) + all_layouts(
                (16, 32, 64), (10, 10, 9, 10), (1.2, 1.2, 0.9, 1.2))))
        self.assertEqual(self.row(sections, "8192")[-1], "no, -0.9 %")  # 1.05 of 1.06
        thin = self.row(sections, "16 x 32 x 64")
        self.assertEqual(thin[4], "**9.0 (0.90)**")
        self.assertEqual(thin[-1], "no, -10.0 %")
        self.assertIn("0 of 2 goals reached", sections["fp32"])
        self.assertIn("at 1 of 2 sizes", sections["fp32_headline"])
        self.assertIn("thin shapes: 1.12", sections["fp32"])

    def test_the_speed_at_8192_is_a_goal_too(self):
        sections = self.sections(fp32=("2026-01-01", all_layouts(8192, (57,) * 4, (1.2,) * 4)))
        self.assertEqual(self.row(sections, "8192")[-1], "no, -1.7 %")

    def test_layouts_that_are_missing_are_no_success(self):
        sections = self.sections(fp32=("2026-01-01", [run(1024, "NN", 46, 1.3)]))
        row = self.row(sections, "1024")
        self.assertEqual(row[3], "-")
        self.assertEqual(row[-1], "1 of 4 layouts")
        self.assertEqual(sections["fp32_headline"], fp32_tables.NOTHING)

    def test_the_newest_run_counts_and_comparisons_of_variants_do_not(self):
        sections = self.sections(
            fp32=("2026-02-02", [run(1024, "NN", 46, 1.3)]),
            fp32_again=("2026-03-03", [run(1024, "NN", 48, 1.4)]),
            fp32_old=("2026-01-01", [run(1024, "NN", 44, 1.2)]),
            fp32_variants=("2026-04-04", [run(1024, "NN", 60, 2), run(1024, "NN", 61, 2.1)]))
        self.assertEqual(self.row(sections, "1024")[2], "48.0 (1.40)")

    def test_energy_comes_from_sustained_runs(self):
        use = {"joules_per_tflop": 9, "vendor_joules_per_tflop": 10}
        sections = self.sections(
            fp32=("2026-01-01", [run(8192, "NN", 58, 1.1)]),
            fp32_energy=("2026-01-02", [
                run(8192, layout, 57, 1.08, mode="sustained", energy=use)
                for layout in fp32_tables.LAYOUTS]))
        self.assertIn("8192, mean over NN, NT, TN, TT: 57.0 TFLOP/s (1.08 of the vendor's), "
                      "9.00 joules a TFLOP (vendor 10.00)", sections["fp32"])

    def test_a_sustained_run_counts_where_a_burst_run_verified_its_kernel(self):
        sections = self.sections(
            fp32=("2026-01-01", [run(8192, "NN", 58, 1.1)]),
            fp32_energy=("2026-01-02", [
                run(8192, "NN", 57, 1.08, mode="sustained", verified=None),
                run(8192, "NT", 99, 1.99, mode="sustained", verified=None)]))
        self.assertIn("8192, mean over NN: 57.0 TFLOP/s", sections["fp32"])
        self.assertNotIn("99", sections["fp32"])

    def test_the_page_names_files_commits_and_rounds(self):
        new = [{**run(1024, "NN", 46, 1.3), "commit": "1a2b3c4d5e6f", "rounds": 5}]
        old = [run(2048, "NN", 50, 1.2)]
        sections = self.sections(fp32=("2026-02-02", new), fp32_old=("2026-01-01", old),
                                 fp32_older=("2025-01-01", old))
        self.assertIn("From `results/`: `h200_fp32.json` (commit 1a2b3c4d5e6f, 5 rounds); "
                      "`h200_fp32_old.json` (commit not recorded, 5 rounds).", sections["fp32"])
        self.assertNotIn("fp32_older", sections["fp32"])  # nothing in the table is of it

    def test_rounds_are_those_of_the_runs_else_of_the_command(self):
        def file(words, *rounds):
            return {"environment": {"command": f"tessera bench{words}"},
                    "runs": [{"rounds": n} for n in rounds]}
        for rounds, of in (({5}, file("")), ({2}, file(" --rounds 2")), ({3}, file(" -m 3", 3, 3)),
                           ({1, 5}, file(" --rounds 5", 5, 1))):  # the last was interrupted
            self.assertEqual(fp32_tables.results_files.rounds_of(of), rounds)
        self.assertIn("1 to 5 rounds",
                      fp32_tables.results_files.code_and_rounds(file("", 5, 1)))

    def test_a_file_of_several_commits_is_refused(self):
        for other in ("ffff", None):
            runs = [{**run(1024, "NN", 46, 1.3), "commit": "eeee"},
                    {**run(1024, "NT", 46, 1.3), "commit": other}]
            with self.assertRaises(SystemExit) as refused:
                self.sections(fp32=("2026-01-01", runs))
            self.assertIn("h200_fp32.json", str(refused.exception))
            self.assertIn("eeee", str(refused.exception))

    def test_workspace_and_the_figure_without_it(self):
        runs = all_layouts(8192, (60, 60, 60, 60), (1.2,) * 4)
        for one in runs:
            one["workspace_bytes"] = 33 << 20
        runs[3]["workspace_bytes"] = 512 << 20
        runs[3]["within_vendor_workspace"] = {"tflops": 50, "ratio_to_vendor": 1.0}
        sections = self.sections(fp32=("2026-01-01", runs + [
            run(1024, "NN", 46, 1.3)]))
        self.assertEqual(self.row(sections, "8192")[-2:], ["512 MiB", "57.5 (1.15)"])
        self.assertEqual(self.row(sections, "1024")[-2:], ["-", "-"])
        self.assertIn("held to that", sections["fp32"])
        runs[3]["within_vendor_workspace"] = {"tflops": None, "ratio_to_vendor": None}
        self.assertEqual(self.row(self.sections(fp32=("2026-01-01", runs)), "8192")[-1], "no plan")

    def test_companions_are_no_figures_of_ours(self):
        limited = {**run(1024, "NN", 99, 9.9), "workspace_limit": 64 << 20}
        other = {**run(1024, "NN", 98, 9.8), "build": "other"}
        sections = self.sections(fp32=("2026-01-01", [limited, run(1024, "NN", 46, 1.3), other]))
        self.assertEqual(self.row(sections, "1024")[2], "46.0 (1.30)")


if __name__ == "__main__":
    unittest.main()
