"""Each measured figure in README and docs is in a file of results/, with the digits that the page prints.

A figure is a number with a unit of time, speed, energy, power or bytes, a number of cycles, a percentage, "1.2 times", "1.2x",
and any number with two decimals, which is a ratio ("0.96 in NN"). In a paragraph that has one, each other number with a decimal
point is a figure, too, in one of the paragraph's units ("25.7 ms in NN and 26.4 in NT"); so is each in a table written by hand.

The sources of a paragraph are the files that it names (`results/...`) and the generated tables of the sections that it links
(page.md#section). The items of a list also have those of the sentence before it. Numbers of a source that count:
  a file of `bench`     medians, p5 and p95, speeds, ratios, power and joules of both sides; of each shape the geometric mean of
                        the ratios over its layouts; of two records of one problem and of the vendor, the ratio of their times
  other JSON            each number, as it is or times 1000 or 1e6 up or down (units differ); lists of raw samples left out
  text, tables          each number that is printed
A percentage is one of these, or the distance of a ratio from 1.

So a figure must be in a source to the digits printed. Of a file of `bench` only runs count that are of what the words beside
the figure name: sizes ("at 4096", "64 x 8192 x 8192"), types ("BF16") and layouts ("NT"). Sizes and types hold for the clauses
after them, up to the end of the sentence, and those of a list's first words for the whole item; layouts hold for their clause.
Tables between markers are generated; blocks of code show what a command prints. The pages of rungs derive predictions by hand,
so of these only the section with the measurement is held to files: those that its generated table names. figures_exceptions.py lists the words of figures that
nobody measured, each with the reason."""
import fnmatch
import itertools
import json
import lzma
import math
import re
import sys
import tempfile
import unittest
from functools import lru_cache
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from figure_words import MEASURED, NUMBER, POWER, SPEED, TIME, UNITS, Named, clauses_of  # noqa: E402
from figures_exceptions import NOT_MEASURED  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
PAGES = [page for folder in ("docs", "docs/how-to", "docs/reports") for page in sorted((ROOT / folder).glob("*.md"))]

COMPARED = re.compile(rf"(?<=[\d ])({UNITS}) instead of ({NUMBER})(?![\w.]|[ -]?(?:{UNITS}))")  # "3 us instead of 4"
RATIO = re.compile(r"(?<![\w.^/-])(\d\.\d\d\d?|\d+\.\d+(?=x\b))(?!\d|\.\d)")
BARE = re.compile(r"(?<![\w.^/-])\d+\.\d+(?!\w|\.\d)")
VERSION = re.compile(r"\b(?:CUDA|cuBLAS|SM|PTX|nvcc|ptxas|nvdisasm|GCC|capability|ubuntu|Ubuntu|arXiv) \d+\.\d+|\(\d+\.\d\)|\b\d\.\d (?:and later|on\b)")

NAMED = re.compile(r"`results/([\w/{},*.]+)`")
LINK = re.compile(r"\]\(([\w./-]*)#([\w-]+)\)")
TABLE = re.compile(r"<!-- (\w+) begin -->.*?<!-- \1 end -->", flags=re.S)
STORED = re.compile(r"`(?:results/)?(?:\w+/)?(h200_[\w*{},]+\.\w+|ladder_\w+\.json|observer_cost\.json)`")


def figures_of(paragraph, of_paragraph=None):
    """(number as printed, its possible units) of each; a ratio has none. Bare numbers have a unit of the paragraph's."""
    # Names, calls and shapes in code are not figures; links are addresses.
    text = VERSION.sub("", re.sub(r"`[^`]*`|\]\([^)]*\)", "", " ".join(paragraph.split())))
    if text.startswith("|"):  # a table written by hand: the unit is in its heading or ahead of it
        return [(number, ("", "ms", "us", "TFLOP/s", "%")) for number in BARE.findall(text)]
    found = []
    for numbers, unit in MEASURED.findall(text):
        found += [(number.replace(",", ""), (unit,)) for number in re.findall(NUMBER, numbers)]
    compared = COMPARED.findall(text)
    found += [(number.replace(",", ""), (unit,)) for unit, number in compared]
    rest = MEASURED.sub(" ", COMPARED.sub(r" \1", text))
    units = tuple(sorted({unit for _, of in found for unit in of})) if of_paragraph is None else of_paragraph
    found += [(number, ("", *units)) for number in RATIO.findall(rest)]
    return found + [(number, units) for number in BARE.findall(RATIO.sub(" ", rest)) if units]


def sections(text):
    """The text by headings, each with its anchor."""
    parts = re.split(r"^(#+ .*)$", text, flags=re.M)
    anchors = [re.sub(r"[^\w -]", "", heading.lstrip("# ").lower()).replace(" ", "-") for heading in parts[1::2]]
    return list(zip(["", *anchors], parts[::2]))


def printed_numbers(text):
    return [("", float(number.replace(",", ""))) for number in re.findall(rf"(?<![\w.]){NUMBER}", text)]


def leaves(value):
    if isinstance(value, dict):
        for entry in value.values():
            yield from leaves(entry)
    elif isinstance(value, list) and len(value) > 24 and all(isinstance(entry, (int, float)) for entry in value):
        return  # raw samples
    elif isinstance(value, list):
        for entry in value:
            yield from leaves(entry)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def of_bench(runs):
    values, alike, layouts = [], {}, {}
    for run in runs:
        times = run.get("time_ms")
        if not times:
            continue
        vendor = (run.get("vendor") or {}).get("time_ms") or {}
        values += [("ms", side[key]) for side in (times, vendor) for key in ("median", "p5", "p95") if key in side]
        values += [("TFLOP/s", run["tflops"])] if run.get("tflops") else []
        values += [("power", number) for number in leaves([run.get("telemetry"), run.get("energy")])]
        if run.get("ratio_to_vendor"):
            values.append(("ratio", run["ratio_to_vendor"]))
            if run.get("tflops"):
                values.append(("TFLOP/s", run["tflops"] / run["ratio_to_vendor"]))
        shape = json.dumps([{**run["problem"], "layout": "", "lda": 0, "ldb": 0}, run["mode"], run.get("workspace_limit")])
        problem = shape + run["problem"]["layout"]
        alike.setdefault(problem, []).append(times["median"])
        if run.get("ratio_to_vendor"):
            layouts.setdefault(shape, []).append(run["ratio_to_vendor"])
    for ratios in layouts.values():
        values.append(("ratio", math.exp(sum(map(math.log, ratios)) / len(ratios))))
    for medians in alike.values():
        values += [("ratio", one / other) for one, other in itertools.permutations(medians, 2)]
    return values


@lru_cache(maxsize=None)
def sizes_in(results):
    """Of all runs of `bench`."""
    return frozenset(tuple(run["problem"].get(extent) for extent in "mnk") for file in results.rglob("*.json")
                     for run in contents_of(str(file.relative_to(results)), results)[1])


def files_of(name, results):
    """{a,b} and * stand for many files, a folder for all in it."""
    braces = re.search(r"\{([^}]*)\}", name)
    if braces:
        return [file for part in braces[1].split(",") for file in files_of(name.replace(braces[0], part, 1), results)]
    return sorted(results.glob(name + ("*" if name.endswith("/") else "")))


@lru_cache(maxsize=None)
def contents_of(name, results):
    """Plain values of the files that a name stands for, and the runs of those of `bench`."""
    values, runs = [], []
    for file in files_of(name, results):
        if file.name.endswith((".json", ".json.xz")):
            text = lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_text()
            content = json.loads(text)
            if isinstance(content, dict) and "runs" in content:
                runs += content["runs"]
            else:
                values += [("", number * scale) for number in leaves(content) for scale in (1, 1e3, 1e-3, 1e6, 1e-6)]
        elif file.is_file():
            values += printed_numbers(file.read_text())
    return values, runs


def values_of(name, results, named=Named()):
    values, runs = contents_of(name, results)
    return values + of_bench([run for run in runs if named.is_of(run["problem"])])


def is_among(figure, values):
    """Whether one of the values prints as this figure."""
    number, units = figure
    step = 10.0 ** -len(number.partition(".")[2])

    def prints(value):
        return abs(value - float(number)) <= 0.5001 * step
    for kind, value in values:
        if kind == "" and prints(value) or kind == "ratio" and {"", "times"} & {*units} and prints(value):
            return True
        if kind in ("", "ratio") and "%" in units and (prints(100 * value) or prints(abs(100 * value - 100))):
            return True
        if kind == "power" and POWER & {*units} and prints(value):
            return True
        scales = {"ms": TIME, "TFLOP/s": SPEED}.get(kind, {})
        if any(unit in scales and prints(value / scales[unit]) for unit in units):
            return True
    return False


def without_exceptions(page, paragraph):
    text = " ".join(paragraph.split())
    for of, words, _ in NOT_MEASURED:
        text = text.replace(words, "") if page == of else text
    return text


def units_of(paragraph):
    """Of the figures that have their own."""
    return tuple(sorted({unit for _, units in figures_of(paragraph, ()) for unit in units if unit}))


def values_behind(page, text, words, named, root):
    """Values in the files that the words name, and in the tables that they link, of the runs that are named."""
    values = []
    for name in NAMED.findall(words):
        values += values_of(name, root / "results", named)
    for target, anchor in LINK.findall(words):
        there = ((root / page).parent / target).read_text() if target else text
        values += [value for name, part in sections(there) if name == anchor for table in TABLE.finditer(part)
                   for row in table[0].split("\n") if named.is_of_row(row, sizes_in(root / "results"))
                   for value in printed_numbers(row)]
    return values


def unfounded(page, text, root=ROOT):
    """Each paragraph with figures that nothing behind it holds, as (paragraph, figures)."""
    found = []
    for _, section in sections(text):
        prose = re.sub(r"^ *```.*?^ *```", "", TABLE.sub("\n\n", section), flags=re.S | re.M)
        introduction = ""
        for paragraph in re.split(r"\n\s*\n|\n(?=- |\d+\. |\|)", prose):  # a row of a table is one
            if not re.match(r"- |\d+\. |\|", paragraph.strip()):
                introduction = paragraph if paragraph.rstrip().endswith(":") else ""
            rest = without_exceptions(page, paragraph)
            missing = []
            for clause, named in clauses_of(rest, sizes_in(root / "results")):
                values = values_behind(page, text, paragraph + introduction, named, root)
                missing += [figure for figure in figures_of(clause, units_of(rest)) if not is_among(figure, values)]
            if missing:
                found.append((paragraph, [f"{number} {'|'.join(units)}".strip() for number, units in missing]))
    return found


def missing_files(text, results):
    """Stored files that a page names and that are not there."""
    missing = [name for name in NAMED.findall(text) if not files_of(name, results)]
    for name in STORED.findall(text):
        pattern = re.sub(r"\{[^}]*\}", "*", name)
        if not any(fnmatch.fnmatch(file.name, pattern) for file in results.rglob("*")):
            missing.append(name)
    return missing


def measurement_of(page):
    return re.search(r"## Measurement\n(.*?)(?=\n## |\Z)", page, flags=re.S)[1]


# Sentences of such a section that tell of what was expected, and of bytes of operands.
ELSEWHERE = re.compile(r"predict|guessed|as the replay of its loop says|MiB")


def unfounded_in_measurement(section, results):
    """Figures of a rung's measurement that neither its generated tables nor the files that they name hold."""
    tables = [table[0] for table in TABLE.finditer(section)]
    values = [value for table in tables for value in printed_numbers(table)]
    for name in NAMED.findall(section):
        values += values_of(name, results)
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=- )", TABLE.sub("\n\n", section)):
        text = " ".join(paragraph.split())
        for sentence in [] if text.startswith("Reported") else re.split(r"(?<=[.?!:]) ", text):
            found += [figure for figure in figures_of(sentence, units_of(text))
                      if not ELSEWHERE.search(sentence) and not is_among(figure, values)]
    return found


class Figures(unittest.TestCase):
    def test_each_figure_is_in_its_source(self):
        pages = [ROOT / "README.md", *PAGES]
        self.assertGreater(len(pages), 10)
        for page in pages:
            name = str(page.relative_to(ROOT))
            with self.subTest(name):
                self.assertEqual(unfounded(name, page.read_text()), [], f"{name}: figures that no file named there holds")

    def test_each_named_file_is_there(self):
        for page in [ROOT / "README.md", *PAGES, *(ROOT / "src/ladder").glob("*/README.md")]:
            self.assertEqual(missing_files(page.read_text(), ROOT / "results"), [], page)

    def test_each_rung_measures_from_a_file(self):
        rungs = list((ROOT / "src/ladder").glob("*/README.md"))
        self.assertGreater(len(rungs), 15)
        for page in rungs:
            self.assertIn("<!-- measured begin -->", measurement_of(page.read_text()), page)

    def test_what_a_rung_measured_is_in_its_files(self):
        for page in (ROOT / "src/ladder").glob("*/README.md"):
            self.assertEqual(unfounded_in_measurement(measurement_of(page.read_text()), ROOT / "results"), [], page)

    def test_exceptions_are_in_use(self):
        for page, words, reason in NOT_MEASURED:
            self.assertIn(words, " ".join((ROOT / page).read_text().split()), page)
            self.assertTrue(reason, words)


class Planted(unittest.TestCase):
    """In a small repository: one bench file, one other file, one page with a generated table."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "results/tensor").mkdir(parents=True)
        (self.root / "docs").mkdir()
        def run(layout, median, ratio, size=512, of="f32"):
            return {"problem": {"m": size, "n": size, "k": size, "type": of, "layout": layout}, "mode": "burst", "tflops": 58.84, "ratio_to_vendor": ratio,
                    "time_ms": {"median": median, "p5": 0.0137, "p95": 0.0153}, "vendor": {"time_ms": {"median": 0.01648}},
                    "telemetry": {"power_w": 702.4}, "samples_ms": [0.777] * 99}
        runs = [run("NN", 0.01456, 1.132), run("NN", 0.0182, 0.9), run("NT", 0.0145, 1.212)]
        (self.root / "results/tensor/a.json").write_text(json.dumps({"runs": runs}))
        runs = [run("NN", 0.111, 0.5), run("NT", 0.222, 0.6), run("NN", 0.333, 0.7, 1024), run("NN", 0.444, 0.8, 1024, "bf16")]
        (self.root / "results/tensor/c.json").write_text(json.dumps({"runs": runs}))
        (self.root / "results/b.json").write_text(json.dumps({"rows": [{"seconds": 1.3, "speed": 4265, "loss": 0.0123}]}))
        (self.root / "docs/tables.md").write_text("## Squares\n<!-- t begin -->\n| 43.5 (0.83) |\n<!-- t end -->\n## None\n7.5 us\n")

    def missing(self, text):
        return [figure for _, figures in unfounded("docs/a.md", text, self.root) for figure in figures]

    def test_figures_without_a_source_are_found(self):
        for text in ("58.8 TFLOP/s", "58.8 TFLOPS", "9 GFLOP", "3.2 µs", "40 ns", "3 s", "2 minutes", "36 CPU-seconds", "100 cycles",
                     "700 W", "1.06 J/TFLOP", "34 GiB/s", "20 MB", "12 %", "2 times", "1.12 times", "1.2x",
                     "0.96 of the vendor's", "0.90"):
            for whole in (f"It has {text}.", f"It has {text} ([page](b.md)).", f"It has {text} (a.txt, `results/`).",
                          f"It has {text} ([none](tables.md#none))."):
                self.assertEqual(len(self.missing(whole)), 1, whole)

    def test_values_are_compared(self):
        source = "`results/tensor/a.json`"
        for true in ("14.6 us", "0.0146 ms", "14.56 us", "16.5 us", "13.7 to 15.3 us", "58.8 TFLOP/s", "1.13", "1.13 times", "1.2x",
                     "702 W", "0.90", "13 %", "14.6 us in NN and 14.5 in NT"):
            self.assertEqual(self.missing(f"{true} ({source})"), [], true)
        for false in ("14.7 us", "14.57 us", "58.7 TFLOP/s", "1.15 times", "0.91", "690 W", "777 us", "17 %",
                      "14.6 us in NN and 14.7 in NT"):
            self.assertEqual(len(self.missing(f"{false} ({source})")), 1, false)
        self.assertEqual(self.missing("Other files: 1.3 s, 1300 ms, 4265 GB/s, 4.27 TB/s, 1.2 % (`results/b.json`)"), [])
        self.assertEqual(self.missing("1.4 s (`results/{tensor/a,b}.json`)"), ["1.4 s"])
        self.assertEqual(self.missing("43.5 us, 0.83 ([squares](tables.md#squares)); 0.84"), ["0.84 |us"])

    def test_of_the_runs_that_the_words_name(self):
        source = "(`results/tensor/c.json`)"
        for true in ("111 us", "111 us at 512", "222 us instead of 111 at 512", "111 us in NN and 222 in NT at 512", "111 us at 512, 333 at 1024",
                     "222 us for 512 NT and 333 us for 1024 NN", "In BF16 1024 takes 444 us, in FP32 333 us",
                     "- **BF16.** All of it. It takes 444 us", "222 us, 111.0 and 111 us at 512", "512 x 512 x 512: 0.60",
                     "1024 of 512 x 512 x 512: 111 us", "tiles of 64 x 64 x 8: 111 us", "0.55 at 512", "1024 threads, 111 us at 512",
                     "At 1024 it takes 333 us. 111 us else"):
            self.assertEqual(self.missing(f"{true} {source}"), [], true)
        for false in ("111 us at 1024", "333 us at 512", "111 us instead of 112 at 512", "111 us in NT", "222 us for 512 NN", "In BF16 512 takes 111 us", "333 us in BF16",
                      "- **BF16.** All of it. It takes 333 us", "111 us at 512, 222.0 at 1024", "222 us for 512 NT and 111 us for 1024 NN",
                      "512 x 1024 x 512: 111 us", "333 us, 111.0 and 222 us at 512", "0.55 at 1024", "0.55 in NN at 512",
                      "At 1024 it took, in all, 111 us"):
            self.assertEqual(len(self.missing(f"{false} {source}")), 1, false)
        self.assertEqual(len(self.missing(f"{source}:\n\n| 512 | 0.333 |\n| 1024 | 0.333 |")), 1)

    def test_of_the_rows_that_the_words_name(self):
        (self.root / "docs/tables.md").write_text("## T\n<!-- t begin -->\n| 512 | 43.5 |\n| 1024 | 9.25 |\n<!-- t end -->\n")
        self.assertEqual(self.missing("43.5 us at 512, 9.25 us at 1024 ([t](tables.md#t))"), [])
        self.assertEqual(self.missing("9.25 us at 512 ([t](tables.md#t))"), ["9.25 us"])

    def test_means_over_layouts(self):
        mean = (1.132 * 0.9 * 1.212) ** (1 / 3)
        self.assertEqual(self.missing(f"{mean:.3f} (`results/tensor/a.json`)"), [])

    def test_lists_tables_and_what_is_no_figure(self):
        listed = "In `results/tensor/a.json`:\n\n- 14.6 us\n- 16.5 us"
        self.assertEqual(self.missing(listed), [])
        self.assertEqual(self.missing(listed + "\n\nAnd 14.5 us."), ["14.5 us"])
        self.assertEqual(len(self.missing("`results/tensor/a.json`:\n\n| 512 | 14.6 | 14.9 |")), 1)
        for text in ("Rung 12 has 16 loads.", "CUDA 13.0, SM 9.0", "tiles of 128x256", "<!-- t begin -->\n5 us\n<!-- t end -->", "```\n5 ms\n```",
                     "`--seconds 5 s`"):
            self.assertEqual(self.missing(text), [], text)

    def test_figures_of_a_rung(self):
        table = "<!-- measured begin -->\n| 43.5 (0.83) |\n`results/tensor/a.json`\n<!-- measured end -->\n"
        def missing(text):
            return [number for number, _ in unfounded_in_measurement(table + text, self.root / "results")]
        self.assertEqual(missing("43.5 TFLOP/s, 0.83, 14.6 us. It was predicted at 99 us."), [])
        self.assertEqual(missing("43.6 TFLOP/s, 0.84, 14.7 us."), ["43.6", "0.84", "14.7"])

    def test_named_files_that_are_gone(self):
        text = "`results/tensor/a.json`, `results/{b,gone}.json`, `results/tensor/gone.json`, `h200_gone.json`"
        self.assertEqual(missing_files(text, self.root / "results"), ["tensor/gone.json", "h200_gone.json"])


if __name__ == "__main__":
    unittest.main()
