"""The table of planted mistakes from made-up answers."""
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools/tables"))
import mutant_tables  # noqa: E402


def mutant(room, verdict, **more):
    return {"name": room + "_01", "room": room, "path": "src/a.cpp", "before": " x | 1;", "after": " x;",
            "verdict": verdict, **more}


def section(mutants, file="mutants", **more):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "results").mkdir()
        if mutants is not None:
            (root / f"results/{file}.json").write_text(
                json.dumps({"tried": len(mutants), "of": 9, "mutants": mutants, **more}))
        return mutant_tables.sections(root)[file]


class Mutants(unittest.TestCase):
    def test_counts_by_room_and_in_all(self):
        text = section([mutant("lab", "noticed"), mutant("lab", "survived"), mutant("sass", "noticed"),
                        mutant("lab", "does not build")])
        self.assertIn("4 of 9 mistakes", text)
        self.assertIn("| `lab` | 1 | 1 | 0 | 1 | 50 % |", text)
        self.assertIn("| `sass` | 1 | 0 | 0 | 0 | 100 % |", text)
        self.assertIn("| all | 2 | 1 | 0 | 1 | 67 % |", text)

    def test_says_what_is_left_and_why(self):
        text = section([mutant("lab", "survived"), mutant("cli", "changes nothing", changes_nothing="because")])
        self.assertIn("| `src/a.cpp`: `x \\| 1;` for `x;` | nothing notices it yet |", text)
        self.assertIn("| because |", text)
        self.assertIn("| `cli` | 0 | 0 | 1 | 0 | - |", text)

    def test_nothing_left_is_no_table(self):
        self.assertNotIn("written for", section([mutant("lab", "noticed")]))
        self.assertEqual(section(None), "not measured yet")

    def test_drawn_ones_have_their_seed(self):
        text = section([mutant("gemm", "survived", noticed_since="Host.A"), mutant("gemm", "noticed"), mutant("gemm", "survived"),
                        mutant("gemm", "changes nothing", changes_nothing="because"), mutant("gemm", "does not build")],
                       "mutants_drawn", seed="0123abcd", left_out=2, left_out_why="elsewhere")
        self.assertIn("Seed `0123abcd`: 4 of 9 mistakes have been judged, in the order in which they were drawn; 1 change nothing. "
                      "Of the other 3, 1 were noticed at once, and 1 have tests since: 67 %. 2 more are not judged: they are elsewhere.", text)
        self.assertIn("| `Host.A` notices it since |", text)
        self.assertIn("| `gemm` | 1 | 2 | 1 | 1 | 33 % |", text)


if __name__ == "__main__":
    unittest.main()
