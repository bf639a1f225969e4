"""The tables of docs/api/pytorch.md from made-up runs."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
from clients import pytorch_tables  # noqa: E402

HEAD = {"gpu": "a card", "torch": "9.9", "commit": "abc"}
TYPES = ("bfloat16", "float16", "float32")


def sections(**files):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "results/interface").mkdir(parents=True)
        for name, content in files.items():
            (root / f"results/interface/h100_{name}.json").write_text(json.dumps({**HEAD, **content}))
        return pytorch_tables.sections(root)


def step(dtype, theirs, ours, **more):
    side = {"p5": 0, "p95": 9, "n": 7}
    return {"model": "GPT", "type": dtype, "case": "decode", "products": 25, "speed": theirs / ours,
            "ms": {"torch": {"median": theirs, **side}, "tessera": {"median": ours, **side}}, **more}


class Tables(unittest.TestCase):
    def test_without_files(self):
        self.assertEqual(set(sections().values()), {"not measured yet"})

    def test_calls_side_by_side(self):
        rows = [{"call": call, "type": dtype, "p50_us": us, "n": 40} for dtype, us in (("float32", 1.5), ("bfloat16", 2.5))
                for call in ("PyTorch matmul", "ours matmul", "PyTorch bmm")]
        rows[1]["p50_us"] = 1.25
        text = sections(operator_calls={"calls": rows})["pytorch_calls"]
        self.assertIn("| `matmul` | 2.5 | 2.5 | 1.5 | 1.2 |", text)
        self.assertNotIn("bmm", text)  # ours was not measured
        self.assertIn("medians of 40 calls", text)
        self.assertIn("a card, PyTorch 9.9, library of commit abc", text)

    def test_slow_steps_are_bold_with_their_products_alone(self):
        slow = step("float32", 9.0, 10.0, products_ms={"torch": {"median": 3.0}, "tessera": {"median": 4.0}})
        text = sections(transformers={"rows": [step("bfloat16", 2.0, 1.0), step("float16", 0.95, 1.0), slow]})["pytorch_steps"]
        self.assertIn("| GPT | decode | 2.00 / 1.00 (2.00) | 0.95 / 1.00 (0.95) | **9.00 / 10.00 (0.90)** |", text)
        self.assertIn("GPT, FP32, decode: its 25 products alone take 3.00 ms with PyTorch's kernels and 4.00 with ours (0.75): "
                      "the kernels are slower.", text)
        self.assertEqual(text.count("products alone"), 1)
        self.assertIn("medians of 7 groups", text)

    def test_a_slow_step_of_fast_products_names_its_launches(self):
        alone = {"torch": {"median": 3.0}, "tessera": {"median": 2.0}}
        for ours, why in ((50, ", in 25 launches and 50: the host takes longer for them."), (25, ", in 25 launches and 25.")):
            slow = step("float32", 9.0, 10.0, products_ms=alone, launches={"torch": 25, "tessera": ours})
            rows = [step("bfloat16", 1.0, 1.0), step("float16", 1.0, 1.0), slow]
            self.assertIn("and 2.00 with ours (1.50)" + why, sections(transformers={"rows": rows})["pytorch_steps"] + "\n")

    def test_no_list_where_none_is_slow(self):
        text = sections(transformers={"rows": [step(dtype, 1.0, 1.0) for dtype in TYPES]})["pytorch_steps"]
        self.assertNotIn("as one CUDA graph", text)


if __name__ == "__main__":
    unittest.main()
