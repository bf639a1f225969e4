"""What tools/refresh_rung keeps and replaces, and that its template is a page that the tests accept."""
import importlib.machinery
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("refresh_rung", str(ROOT / "tools/refresh_rung"))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("refresh_rung", LOADER))
LOADER.exec_module(tool)


def run(kernel, config, **more):
    return {"kernel": kernel, "config": config, **more}


class RefreshRung(unittest.TestCase):
    def test_only_the_rung_changes(self):
        old = [run("01_a", "x", n=1), run("02_b", "x", n=1), run("02_b", "gone", n=1), run("03_c", "x", n=1)]
        new = [run("02_b", "x", n=2), run("02_b", "added", n=2)]
        self.assertEqual(tool.merged(old, new, ["02_b"], ["01_a", "02_b", "03_c"]),
                         [old[0], *new, old[3]])

    def test_a_new_rung_comes_at_its_place_and_a_removed_one_goes(self):
        old = [run("01_a", "x"), run("02_gone", "x"), run("04_d", "x")]
        names = ["01_a", "03_c", "04_d"]
        kernels = [r["kernel"] for r in tool.merged(old, [run("03_c", "x")], ["03_c"], names)]
        self.assertEqual(kernels, names)

    def test_wall_times_and_commits_are_not_stored(self):
        old, new = run("01_a", "x", host_seconds=1.5, commit="1"), run("02_b", "x", lane_instructions_per_s=2, commit="2")
        self.assertEqual(tool.merged([old], [new], ["02_b"], ["01_a", "02_b"]), [run("01_a", "x"), run("02_b", "x")])

    def test_a_rung_is_in_its_own_drawing_and_those_beside_it(self):
        names = ["01_a", "02_b", "03_c", "04_d", "20_unpacked", "21_e"]
        listed = {"01_a": None, "04_d": "02_b", "20_unpacked": None}
        self.assertEqual(list(tool.drawings(names, "01_a", listed)),
                         [("01_a", ["explain", "01_a"]), ("02_b", ["compare", "01_a", "02_b"])])
        self.assertEqual(list(tool.drawings(names, "02_b", listed)),
                         [("02_b", ["compare", "01_a", "02_b"]), ("03_c", ["compare", "02_b", "03_c"]),
                          ("04_d", ["compare", "02_b", "04_d"])])
        self.assertEqual(list(tool.drawings(names, "04_d", listed)), [("04_d", ["compare", "02_b", "04_d"])])
        self.assertEqual(list(tool.drawings(names, "21_e", listed)), [("21_e", ["compare", "20_unpacked", "21_e"])])

    def test_what_the_list_of_drawings_names_is_on_the_ladder(self):
        names = [folder.name for folder in tool.rungs_of("all", ROOT)]
        listed = tool.listed_drawings(ROOT)
        unknown = {*listed, *listed.values()} - {*names, None}
        self.assertEqual(unknown, set(), "src/ladder/drawings.txt names what is no rung")
        self.assertIsNone(listed[names[0]])

    def test_the_list_of_drawings_has_a_rung_and_perhaps_another(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "src/ladder").mkdir(parents=True)
            (Path(folder) / "src/ladder/drawings.txt").write_text("# 00_no\n01_a\n04_d 02_b\n")
            self.assertEqual(tool.listed_drawings(Path(folder)), {"01_a": None, "04_d": "02_b"})

    def test_a_rung_is_a_number_or_a_name(self):
        for word in ("3", "03", "03_shared_tile"):
            self.assertEqual(tool.folder_of(word, ROOT).name, "03_shared_tile")
        for word in ("99", "", "shared"):
            with self.assertRaises(SystemExit):
                tool.folder_of(word, ROOT)

    def test_lines_and_last_digits_are_not_stored(self):
        new = run("01_a", "x", counts={"lines": [{"line": 3}], "sectors": {"lines": 5}, "flop": 33554432, "ratio": 0.24951267056530213},
                  verdict="of src/a/kernel.cu:28 (inlined from src/common.h:61)")
        self.assertEqual(tool.merged([], [new], ["01_a"], ["01_a"]),
                         [run("01_a", "x", counts={"sectors": {"lines": 5}, "flop": 33554432, "ratio": 0.249513},
                              verdict="of src/a/kernel.cu (inlined from src/common.h)")])

    def test_stored_files_hold_nothing_that_varies(self):
        for name, key in (("ladder_counts", "runs"), ("ladder_explained", "explained")):
            records = json.loads((ROOT / f"results/ladder/{name}.json").read_text())[key]
            self.assertGreater(len(records), 40)
            for record in records:
                self.assertEqual(record, tool.steady(tool.without(record, tool.VARYING)), record["kernel"])

    def test_all_is_every_rung(self):
        names = [folder.name for folder in tool.rungs_of("all", ROOT)]
        self.assertEqual(names[:2], ["01_strided", "02_coalesced"])
        self.assertGreater(len(names), 30)
        self.assertEqual([folder.name for folder in tool.rungs_of("3", ROOT)], ["03_shared_tile"])
        old, new = [run(name, "x", n=1) for name in names], [run(name, "x", n=2) for name in names]
        self.assertEqual(tool.merged(old, new, names, names), new)

    def test_a_new_rung_gets_a_page_and_an_old_one_keeps_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "tools/templates").mkdir(parents=True)
            (root / "tools/templates/rung.md").write_text((ROOT / "tools/templates/rung.md").read_text())
            rung = root / "src/ladder/17_next_idea"
            rung.mkdir(parents=True)
            for other in ("08_tile", "16_scheduled"):
                (root / "src/ladder" / other).mkdir()
            drawn = root / "src/ladder/drawings.txt"
            drawn.write_text("08_tile\n")
            self.assertEqual(tool.changed_by(root / "src/ladder/08_tile", root), None)
            self.assertEqual(tool.changed_by(rung, root), "16_scheduled")
            drawn.write_text("08_tile\n17_next_idea 08_tile\n")
            tool.write_page(rung, root)
            page = (rung / "README.md").read_text()
            self.assertIn("names for rung 08, which this one changes", page)
            self.assertTrue(page.startswith("# Rung 17: next idea\n"))
            headings = re.findall(r"^## .*$", page, flags=re.M)
            known = (ROOT / "src/ladder/12_warp_tile/README.md").read_text()
            self.assertEqual(headings, re.findall(r"^## .*$", known, flags=re.M))
            for sentence in ("**Predicted:** at most ", "**Limited by:** ", "<!-- measured begin -->"):
                self.assertIn(sentence, page)
            (rung / "README.md").write_text("mine")
            tool.write_page(rung, root)
            self.assertEqual((rung / "README.md").read_text(), "mine")

    def test_a_page_alone_builds_nothing(self):
        page = ROOT / "src/ladder/11_double_buffer/README.md"
        before = page.read_text()
        done = subprocess.run([ROOT / "tools/refresh_rung", "11", "--page", "--build", "/no/such/folder"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(page.read_text(), before)

    def test_no_page_is_left_as_the_template_has_it(self):
        lines = (ROOT / "tools/templates/rung.md").read_text().splitlines()
        opened = {line for line in lines if line and not re.match("#|<!--|```|!", line)}
        self.assertGreater(len(opened), 5)
        for page in (ROOT / "src/ladder").glob("*/README.md"):
            lines = re.sub(r"\brung \d\d\b", "rung MM", page.read_text()).splitlines()
            self.assertEqual(opened.intersection(lines), set(), page)


if __name__ == "__main__":
    unittest.main()
