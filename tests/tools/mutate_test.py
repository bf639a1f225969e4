"""One-line mistakes are drawn alike every time, change one line, and are put where they belong."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/mutate"))

import mutants  # noqa: E402

SOURCE = """int f(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    if (i == 3) continue;
    add(i);
  }
  // sum == 0 is fine
  return sum + 1;
}
"""


class Mutate(unittest.TestCase):
    def test_a_line_has_its_slips_and_a_comment_has_none(self):
        self.assertEqual(mutants.slips_of("  return sum + 1;", "  }"), ["  return sum;"])
        self.assertEqual(mutants.slips_of("  // sum == 0 is fine", ""), [])
        self.assertIn("    ;", mutants.slips_of("    add(i);", "    if (i == 3) continue;"))
        self.assertEqual(mutants.slips_of("    add(i);", "    x ="), [])
        self.assertIn("    if (i != 3) continue;",
                      mutants.slips_of("    if (i == 3) continue;", "{"))

    def test_the_named_line_alone_changes_and_comes_back(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "f.cpp")
            file.write_text(SOURCE + SOURCE)
            mutant = mutants.Mutant("m", "room", "f.cpp", "    add(i);", 1, "    ;", ["test"])
            before = mutant.apply(folder)
            self.assertEqual(file.read_text(), SOURCE + SOURCE.replace("    add(i);", "    ;"))
            self.assertEqual(before, SOURCE + SOURCE)
            mutant.skip = 2
            with self.assertRaises(LookupError):
                mutant.apply(folder)

    def test_the_list_is_long_spread_and_drawn_alike(self):
        first = [m.to_json() for m in mutants.draw(ROOT, 7)]
        self.assertEqual(first, [m.to_json() for m in mutants.draw(ROOT, 7)])
        stored = mutants.read_list()
        self.assertGreaterEqual(len(stored), 200)
        self.assertEqual({m.room for m in stored}, set(mutants.ROOMS))
        for mutant in stored:
            self.assertNotEqual(mutant.before, mutant.after)
            self.assertTrue(mutant.tests)


if __name__ == "__main__":
    unittest.main()
