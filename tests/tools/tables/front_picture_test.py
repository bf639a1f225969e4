"""README's picture from made-up files: it is XML, bars are as high as their numbers, and nothing is
drawn of what was not measured."""
import json
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
import fp32_tables  # noqa: E402
import front_picture  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def run(kernel, size, layout, tflops, ratio):
    return {"kernel": kernel, "config": "x", "mode": "burst", "verified": "full",
            "problem": {"m": size, "n": size, "k": size, "layout": layout}, "tflops": tflops,
            "ratio_to_vendor": ratio}


LIBRARY = [run("simt_f32", 4096, layout, 48, 1.2) for layout in fp32_tables.LAYOUTS]
LADDER = [run("01_strided", 4096, "NN", 12, 0.3), run("02_coalesced", 4096, "NN", 24, 0.6)]


def pictures(library, ladder):
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        results.mkdir()
        environment = {"date": "2026-01-01", "device": {"name": "A <GPU>"}}
        (results / "h200_fp32.json").write_text(json.dumps(
            {"schema": "tessera.results/1", "environment": environment, "runs": library}))
        return dict(front_picture.pictures(Path(folder), ladder))


def heights(text, colour):
    return [float(bar.get("height")) for bar in ElementTree.fromstring(text).iter(f"{SVG}rect")
            if bar.get("fill") == colour and float(bar.get("height")) != 11]  # 11: of the key


class Picture(unittest.TestCase):
    def test_bars_are_as_high_as_their_numbers(self):
        drawn = pictures(LIBRARY, LADDER)
        self.assertEqual([path.name for path in drawn], ["speed-light.svg", "speed-dark.svg"])
        for theme, text in zip(("light", "dark"), drawn.values()):
            colours = front_picture.THEMES[theme]
            square, first, second, library = heights(text, colours["ours"])
            self.assertAlmostEqual(square, library, delta=0.2)
            self.assertAlmostEqual(first / library, 12 / 48, delta=0.01)
            self.assertAlmostEqual(second / library, 24 / 48, delta=0.01)
            self.assertAlmostEqual(heights(text, colours["vendor"])[0] / square, 1 / 1.2,
                                   delta=0.01)

    def test_text_of_files_is_escaped(self):
        self.assertIn("A &lt;GPU&gt;", next(iter(pictures(LIBRARY, LADDER).values())))

    def test_nothing_is_drawn_of_what_was_not_measured(self):
        self.assertEqual(pictures([], LADDER), {})
        self.assertEqual(pictures(LIBRARY, []), {})
        self.assertEqual(pictures(LIBRARY[1:], LADDER), {})  # a layout is missing

    def test_fp64_has_a_row_a_rung(self):
        rows = front_picture.fp64_rows([run("21_packed_blocks", 4096, "NN", 4, 0.1), *LADDER])
        self.assertEqual(rows.splitlines()[2:], ["| 21 packed blocks | 4.0 | 40.0 | 0.10 |"])
        rows = front_picture.fp64_rows([run("simt_f64_sm80", 4096, "NN", 14, 0.25)])
        self.assertEqual(rows.splitlines()[2:], ["| simt f64 sm80 | 14.0 | 56.0 | 0.25 |"])
        self.assertEqual(front_picture.fp64_rows(LADDER), fp32_tables.NOTHING)


if __name__ == "__main__":
    unittest.main()
