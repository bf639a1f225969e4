"""The tables of epilogues from made-up runs."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
import epilogue_tables  # noqa: E402


def run(kernel, config, ms, ratio, epilogue="bias_row", layout="TN", **more):
    problem = {"m": 4096, "n": 4096, "k": 4096, "type": "bf16", "layout": layout, "epilogue": epilogue}
    return {"kernel": kernel, "config": config, "problem": problem, "mode": "burst", "verified": "sampled",
            "time_ms": {"median": ms}, "ratio_to_vendor": ratio, "commit": "abc", "rounds": 3, **more}


def sections(card="h100", environment=None, **files):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "results/epilogues").mkdir(parents=True)
        for name, runs in files.items():
            (root / f"results/epilogues/{card}_{name}.json").write_text(
                json.dumps({"environment": environment or {}, "runs": runs}))
        return epilogue_tables.sections(root)


class Epilogues(unittest.TestCase):
    def test_a_column_for_each_tile_and_losses_in_bold(self):
        text = sections(
            none=[run("wgmma_bf16", "128x256x64_s4_coop", 0.178, 0.999, "none")],
            bias=[run("wgmma_bf16_f32", "128x256x64_s4_coop", 0.264, 0.67),
                  run("wgmma_bf16_fused", "128x256x64_s4_coop", 0.179, 0.99)])["epilogues"]
        self.assertIn("| m = n = k | epilogue | 128x256 | plain 128x256 | later launch |", text)
        self.assertIn("| 4096 | none | - | 0.178 (1.00) | - |", text)
        self.assertIn("| 4096 | bias | **0.179 (0.99)** | - | **0.264 (0.67)** |", text)
        self.assertIn("commit abc, 3 rounds", text)

    def test_what_did_not_run_or_failed_is_not_shown(self):
        text = sections(bias=[run("wgmma_bf16_fused", "128x256x64_s4_coop", 0.2, 0.9, verified="failed"),
                              run("wgmma_bf16_fused", "128x192x64_s5_pp", 0.3, None)])["epilogues"]
        self.assertNotIn("128x256", text)
        self.assertIn("| 4096 | bias | 0.300 |", text)

    def test_a_row_for_each_shape_and_a_column_for_each_layout(self):
        text = sections(best=[run("wgmma_bf16_fused", "128x256x64_s4_coop", 0.2, 1.0, "bias_row+gelu"),
                              run("wgmma_bf16_fused", "128x192x64_s5_pp", 0.3, 0.9, "bias_row+gelu", "NT")])
        self.assertIn("| BF16 | bias, GELU | 4096 | wgmma_bf16_fused/128x192x64_s5_pp; "
                      "wgmma_bf16_fused/128x256x64_s4_coop | - | **0.300 (0.90)** | 0.200 (1.00) | - |",
                      text["epilogues_best"])

    def test_says_which_card(self):
        for card, name in (("h100", "H100. Milli"), ("h200", "H200. Milli")):
            self.assertIn(name, sections(card, bias=[run("wgmma_bf16_fused", "128x192x64_s5_pp", 0.2, 1.1)])
                          ["epilogues"])

    def test_products_that_add_to_c_stand_beside_those_that_do_not_and_the_code_before(self):
        def adds(beta, build, ms, ratio, of):
            made = run("wgmma", "128x256x64_s4_coop", ms, ratio, build=build)
            made["problem"].update(type=of, beta=beta)
            return made

        five = {"a": "bf16", "b": "bf16", "c": "f32", "d": "f32", "compute": "f32"}
        text = sections(
            c_tf32=[adds(1, "this", 0.2, 1.1, "tf32"), adds(1, "other", 0.3, 0.7, "tf32")],
            c_mixed=[adds(1, "this", 0.4, 0.9, five)],
            c_mixed_none=[adds(0, "this", 0.35, 1.0, five), adds(0, "other", 0.36, None, five)])["epilogues_c"]
        self.assertIn("| TF32 | TN | 4096 | 0.200 (1.10) | **0.300 (0.70)** | - | - |", text)
        self.assertIn("| BF16 to FP32 | TN | 4096 | **0.400 (0.90)** | - | 0.350 (1.00) | 0.360 |", text)

    def test_the_commit_of_the_code_before_is_that_of_the_files(self):
        def text(environment):
            made = run("wgmma_bf16", "128x256x64_s4_coop", 0.2, 1.1, build="other")
            made["problem"]["beta"] = 1
            return sections(environment=environment, c_bf16=[made])["epilogues_c"]

        self.assertIn("its code of today and that of commit 2ad23b2 by the same plan", text({"other_commit": "2ad23b2"}))
        self.assertIn("that of the build before (`--against`; its commit was not recorded) by", text({}))

    def test_nothing_measured(self):
        self.assertEqual(set(sections().values()), {"not measured yet"})
        self.assertEqual(set(sections()), {"epilogues", "epilogues_best", "epilogues_c"})


if __name__ == "__main__":
    unittest.main()
