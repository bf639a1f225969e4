"""Each measured figure in README and docs has a file in results/ behind it.

A paragraph with a figure (a number and a unit of speed, time or energy, or "1.2 times") names a file in
results/, or links the table that it speaks of; a list may have that in the sentence before it. Tables between
markers are generated from such files; blocks of code show what a command prints. The pages of rungs derive
predictions from hardware numbers by hand, so of these only the section with the measurement is held to it."""
import fnmatch
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]

FIGURE = re.compile(r"(?<![\w.])\d(?:[\d.,]*\d)? ?(?:TFLOP/s|GFLOP/s|GB/s|TB/s|ms\b|µs|us\b|milliseconds|microseconds|joules)"
                    r"|(?<![\w.])\d+\.\d+ times")
SOURCE = re.compile(r"results/|\w+\.(?:json|txt)\b|\]\([^)]*\)")
PATH = re.compile(r"`results/((?:\w+/)+[\w*{},]+\.\w+)`")
STORED = re.compile(r"`(?:results/)?(?:\w+/)?(h200_[\w*{},]+\.\w+|ladder_\w+\.json|observer_cost\.json)`")

# Figures that nobody measured, by page and by words of the paragraph.
NOT_MEASURED = (
    ("docs/how-we-measure.md", "250 ms idle"),  # WHY: the protocol itself
    ("docs/explain.md", "on a card of 1000 GB/s"),  # WHY: a made-up card, to show the arithmetic
)


def without_generated(text):
    text = re.sub(r"<!-- (\w+) begin -->.*?<!-- \1 end -->", "(generated: results/)", text, flags=re.S)
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)


def paragraphs(text):
    return re.split(r"\n\s*\n|\n(?=- |\d+\. )", without_generated(text))


def unfounded(page, text):
    """Paragraphs with a figure and without a file."""
    def is_known(paragraph):
        return any(page == of and words in paragraph for of, words in NOT_MEASURED)
    found, introduced = [], False
    for paragraph in paragraphs(text):
        if not re.match(r"- |\d+\. ", paragraph.strip()):
            introduced = paragraph.rstrip().endswith(":") and bool(SOURCE.search(paragraph))
        has_source = introduced or SOURCE.search(paragraph)
        if FIGURE.search(paragraph) and not has_source and not is_known(paragraph):
            found.append(paragraph)
    return found


def missing_files(text, results):
    """Stored files that a page names and that are not there; with * or {a,b} any file that fits."""
    missing = []
    for name in STORED.findall(text):
        pattern = re.sub(r"\{[^}]*\}", "*", name)
        if not any(fnmatch.fnmatch(file.name, pattern) for file in results.rglob("*")):
            missing.append(name)
    for path in PATH.findall(text):
        if not list(results.glob(re.sub(r"\{[^}]*\}", "*", path))):
            missing.append(path)
    return missing


def measurement_of(page):
    return re.search(r"## Measurement\n(.*?)(?=\n## |\Z)", page, flags=re.S)[1]


class Figures(unittest.TestCase):
    def test_each_figure_has_a_file(self):
        pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
        self.assertGreater(len(pages), 10)
        for page in pages:
            name = str(page.relative_to(ROOT))
            with self.subTest(name):
                self.assertEqual(unfounded(name, page.read_text()), [], f"{name}: a figure without a file")

    def test_each_named_file_is_there(self):
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "src/ladder").glob("*/README.md")]:
            self.assertEqual(missing_files(page.read_text(), ROOT / "results"), [], page)

    def test_each_rung_measures_from_a_file(self):
        rungs = list((ROOT / "src/ladder").glob("*/README.md"))
        self.assertGreater(len(rungs), 15)
        for page in rungs:
            self.assertIn("<!-- measured begin -->", measurement_of(page.read_text()), page)

    def test_exceptions_are_in_use(self):
        for page, words in NOT_MEASURED:
            self.assertIn(words, (ROOT / page).read_text(), page)

    def test_planted_figures_are_found(self):
        for text in ("It reaches 58.8 TFLOP/s.", "A call takes 3.2 µs.", "It is 1.12 times as fast."):
            self.assertEqual(unfounded("docs/a.md", text), [text])
        for text in ("58.8 TFLOP/s (`results/h200_fp32.json`)", "Rung 12 has 16 loads.",
                     "58 TFLOP/s ([table](performance.md))", "<!-- t begin -->\n5 TFLOP/s\n<!-- t end -->",
                     "```\n5 ms\n```"):
            self.assertEqual(unfounded("docs/a.md", text), [])
        self.assertEqual(len(unfounded("docs/a.md", "- 5 ms\n- 6 ms (`results/a.json`)\n- 7 ms")), 2)
        listed = "Of `results/a.json`:\n\n- 5 ms\n- 6 ms"
        self.assertEqual(unfounded("docs/a.md", listed), [])
        self.assertEqual(unfounded("docs/a.md", listed + "\n\nAnd 7 ms."), ["And 7 ms."])
        self.assertEqual(len(unfounded("docs/a.md", listed.replace("results/a.json", "a"))), 2)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "h200_bf16.json").write_text("{}")
            (Path(folder) / "tensor").mkdir()
            (Path(folder) / "tensor/f16.json").write_text("{}")
            text = ("`results/h200_bf16.json`, `h200_{bf16,f16}*.json`, `h200_gone.json`, "
                    "`results/tensor/f16.json`, `results/tensor/gone.json`")
            self.assertEqual(missing_files(text, Path(folder)), ["h200_gone.json", "tensor/gone.json"])


if __name__ == "__main__":
    unittest.main()
