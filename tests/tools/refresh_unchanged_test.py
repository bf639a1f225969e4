"""A refresh of a rung that has not changed changes no byte of what is stored.

    refresh_unchanged_test.py BUILD"""
import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
LOADER = importlib.machinery.SourceFileLoader("refresh_rung", str(ROOT / "tools/refresh_rung"))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("refresh_rung", LOADER))
LOADER.exec_module(tool)
BUILD = Path(sys.argv.pop(1)).resolve()
NAMES = [folder.name for folder in tool.rungs_of("all", ROOT)]


class Unchanged(unittest.TestCase):
    def test_what_was_changed_by_hand_comes_back_to_the_byte(self):
        with tempfile.TemporaryDirectory() as folder:
            stored = {f"{name}.json": (ROOT / f"results/ladder/{name}.json").read_text() for name, _, _ in tool.STORED}
            for name, text in stored.items():
                begin = '"kernel": "01_strided",\n   "config": "32x32"'
                self.assertIn(begin, text)
                changed = text.replace(begin, '"config": "32x32",\n   "kernel": "01_strided"')
                changed = changed.replace('"limited_by": "scattered', '"limited_by": "gathered', 1)
                (Path(folder) / name).write_text(changed)
            tool.renew(Path(folder), BUILD / "tessera", ["01_strided", "12_warp_tile", "41_stores_by_copy"], NAMES)
            for name, text in stored.items():
                self.assertTrue((Path(folder) / name).read_text() == text, f"{name}: tools/refresh_rung all, and see git diff")


if __name__ == "__main__":
    unittest.main()
