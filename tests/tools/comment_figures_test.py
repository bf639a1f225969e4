"""Figures in comments of code that say what was measured ("HW:", "TRIED:", or with the name of a GPU).

Each time, speed, share, bandwidth or number of cycles there is in a file of results/ that the comment names, is quoted
from a public source that it names, or is gone. How a figure is compared: figures_test.py."""
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from figures_test import ROOT, figures_of, files_of, is_among, values_of  # noqa: E402

OF_A_MEASUREMENT = re.compile(r"\b(HW:|TRIED|H200|H100|measured)")
PUBLIC = re.compile(r"whitepaper|data sheet|CuAssembler|as ptxas keeps them")
STORED = re.compile(r"results/([\w/{},*.]+\w)")
NO_MEASUREMENT = {"KB", "MB", "GB", "KiB", "MiB", "GiB", "s", "second", "seconds", "W", "J", "joules"}
UNFOUNDED = re.compile(r"runs? (?:was|were) not stored|no (?:results )?file holds|none of those holds")
# Words of code whose figures are no measurement: file, words.
OTHERS = (("src/arch/costs.h", "its 4 cycles are subtracted"),
          ("src/gemm/cost/tuning/h200.inc", "Costs on an H200 at 1.98 GHz"))


def comments_of(text):
    """Comments of several lines as one, comments behind code one by one."""
    found, lines = [], []
    for line in [*text.split("\n"), ""]:
        whole = re.match(r"\s*//\s?(.*)", line)
        if whole:
            lines.append(whole[1])
            continue
        found += [" ".join(lines)] * bool(lines)
        lines = []
        found += re.findall(r"\S.*?\s//\s(.*)", line)
    return found


def unfounded_in(comment, results):
    if not OF_A_MEASUREMENT.search(comment) or PUBLIC.search(comment):
        return []
    values = [value for name in STORED.findall(comment) for value in values_of(name, results)]
    figures = figures_of(re.sub(r"\bat \d+\b", "", comment))  # sizes
    return [f"{number} {'|'.join(units)}".strip() for number, units in figures
            if not {*units} & NO_MEASUREMENT and not is_among((number, units), values)]


def code_files(root):
    return [file for folder in ("src", "tools", "include", "tests", "examples", "interpose")
            for file in sorted((root / folder).rglob("*")) if file.suffix in (".h", ".hpp", ".cpp", ".cu", ".inc")]


class CommentFigures(unittest.TestCase):
    def test_each_is_in_a_file(self):
        files = code_files(ROOT)
        self.assertGreater(len(files), 500)
        for file in files:
            name = str(file.relative_to(ROOT))
            for comment in comments_of(file.read_text()):
                for of, words in OTHERS:
                    comment = comment.replace(words, "") if of == name else comment
                self.assertEqual(unfounded_in(comment, ROOT / "results"), [], f"{name}: {comment}")
                self.assertIsNone(UNFOUNDED.search(comment), f"{name}: {comment}")

    def test_named_files_are_there(self):
        for file in code_files(ROOT):
            for comment in comments_of(file.read_text()):
                gone = [name for name in STORED.findall(comment) if not files_of(name, ROOT / "results")]
                self.assertEqual(gone, [], f"{file}: {comment}")

    def test_other_words_are_in_use(self):
        for of, words in OTHERS:
            self.assertIn(words, (ROOT / of).read_text(), of)


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = Path(folder.name)
        (self.results / "a.json").write_text('{"us": 12.4}')

    def missing(self, code):
        return [figure for comment in comments_of(code) for figure in unfounded_in(comment, self.results)]

    def test_figures_without_a_file_are_found(self):
        self.assertEqual(self.missing("// HW: it takes\n// 12.4 us.\n"), ["12.4 us"])
        self.assertEqual(self.missing("int x;  // HW: 12.4 us\nint y;  // 3 us\n"), ["12.4 us"])
        self.assertEqual(self.missing("// TRIED: b, 16 us (results/a.json)."), ["16 us"])
        self.assertEqual(self.missing("// An H200 loses 3 % so."), ["3 %"])

    def test_others_are_not(self):
        for code in ("// HW: 12.4 us (results/a.json)", "// 16 us", "// HW: H100 whitepaper: 989 TFLOP/s",
                     "// HW: rows of 128 bytes", "// TRIED: 8 KB"):
            self.assertEqual(self.missing(code), [], code)


if __name__ == "__main__":
    unittest.main()
