"""The FP32 table from made-up files: which runs count, means, goals, losses, the headline."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/tables"))
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

    def test_rounds_are_those_of_the_commands(self):
        files = [{"environment": {"command": f"tessera bench{words}"}}
                 for words in ("", " --rounds 2", " -m 3")]
        self.assertEqual(fp32_tables.rounds(files), "2 to 5 rounds")
        self.assertEqual(fp32_tables.rounds(files[:1]), "5 rounds")


if __name__ == "__main__":
    unittest.main()
