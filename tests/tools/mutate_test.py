"""One-line mistakes are drawn alike every time, change one line, and are put where they belong."""
import argparse
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/mutate"))

import mutants  # noqa: E402
import mutate  # noqa: E402

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

    def test_answers_are_kept_where_they_are_about_the_same_mistake(self):
        with tempfile.TemporaryDirectory() as folder:
            one, other = mutants.read_list()[:2]
            stored = pathlib.Path(folder, "mutants.json")
            stored.write_text(json.dumps({"mutants": [one.to_json() | {"verdict": "survived"},
                                                      other.to_json() | {"verdict": "survived"}]}))
            log = pathlib.Path(folder, "log")
            log.write_text(json.dumps(one.to_json() | {"verdict": "noticed"}) + "\n")
            options = argparse.Namespace(out=stored, log=log, drawn=None)
            known = mutate.known_answers(options)
            self.assertEqual(known[one.name]["verdict"], "noticed")  # the log is newer
            self.assertEqual(known[other.name]["verdict"], "survived")
            log.write_text(json.dumps(one.to_json() | {"verdict": "noticed", "after": "?"}) + "\n")
            self.assertNotIn(one.name, mutate.known_answers(options))

    def test_a_test_that_does_not_end_is_noticed_as_such(self):
        worker = mutate.Worker(0, argparse.Namespace(work=pathlib.Path("/"), jobs_each=1, shards=1, build_seconds=1,
                                                      room_alone=False, drawn=None),
                               None, None)
        mutant = mutants.Mutant("m", "room", "f.cpp", "a", 0, "b", ["one"])
        worker.inside = lambda command: [command]
        build = mutate.shell
        mutate.shell = lambda *_: (0, "")
        try:
            for code, timed_out in ((None, True), (124, True), (1, False)):
                worker.test = lambda test, shards, asked, code=code: (code, "wrong")
                said = "it did not end" if timed_out else "wrong"
                self.assertEqual(worker.try_it(mutant), ("noticed", "one", said, timed_out))
        finally:
            mutate.shell = build

    def test_a_room_may_be_built_alone(self):
        worker = mutate.Worker(0, argparse.Namespace(work=pathlib.Path("/"), jobs_each=1, shards=1, build_seconds=1,
                                                      room_alone=True, drawn=None), None, None)
        mutant = mutants.Mutant("m", "checks", "src/vgpu/observe/f.cpp", "a", 0, "b", ["one"])
        built = []
        worker.inside = built.append
        worker.test = lambda *_: (0, "")
        shell, mutate.shell = mutate.shell, lambda *_: (0, "")
        try:
            self.assertEqual(worker.try_it(mutant)[0], "survived")
        finally:
            mutate.shell = shell
        self.assertEqual(built, ["cmake --build build --target tessera_vgpu_shared -j1"])
        self.assertEqual(mutate.room_alone("src/check/compile/f.cpp"), "tessera_check_shared tessera")

    def test_a_survivor_that_changes_nothing_is_no_survivor(self):
        why = {"changes_nothing": "always overwritten"}
        self.assertEqual(mutate.verdict_of({"verdict": "survived"}), "survived")
        self.assertEqual(mutate.verdict_of({"verdict": "survived"} | why), "changes nothing")
        self.assertEqual(mutate.verdict_of({"verdict": "noticed"} | why), "noticed")

    def test_what_was_chosen_by_hand_is_kept_with_its_name(self):
        kept = mutants.Mutant("launch_02", "launch", "f.cpp", "a", 0, "b", ["one"], "*_of_f", by_hand=True)
        drawn = mutants.Mutant("launch_01", "launch", "f.cpp", "a", 0, "b", ["one"])
        again = mutants.draw(ROOT, 7, [kept, drawn])
        self.assertEqual(again[0].to_json(), kept.to_json())
        self.assertNotIn("f.cpp", {m.path for m in again[1:]})
        names = [m.name for m in again]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(len(again), 1 + len(mutants.draw(ROOT, 7)))

    def test_a_build_is_run_where_it_believes_to_stand(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder, "build")
            build.mkdir()
            (build / "CMakeCache.txt").write_text("A:STRING=b\nCMAKE_HOME_DIRECTORY:INTERNAL=/there\n")
            command = mutate.in_place(pathlib.Path(folder), "make all")[-1]
            self.assertEqual(command, f"mount --bind {folder} /there && cd /there && make all")

    def test_a_test_is_asked_before_for_what_its_mistakes_ask_of_it(self):
        one = mutants.Mutant("m", "room", "f.cpp", "a", 0, "b", ["x", "y"], "F.*")
        other = mutants.Mutant("n", "room", "f.cpp", "a", 0, "b", ["y"])
        asked = {}

        class Worker:
            def test(self, test, shards, of):
                asked[test] = of
                return (1 if test == "x" else 0), "red"

        mutate.Worker, kept = Worker, mutate.Worker
        try:
            self.assertEqual(mutate.failing_tests([Worker()], [one, other]), {"x"})
        finally:
            mutate.Worker = kept
        self.assertEqual(asked, {"x": "F.*", "y": "*:F.*"})

    def test_the_list_is_long_spread_and_drawn_alike(self):
        first = [m.to_json() for m in mutants.draw(ROOT, 7)]
        self.assertEqual(first, [m.to_json() for m in mutants.draw(ROOT, 7)])
        stored = mutants.read_list()
        self.assertGreaterEqual(len(stored), 200)
        self.assertEqual({m.room for m in stored}, set(mutants.ROOMS))
        for mutant in stored:
            self.assertNotEqual(mutant.before, mutant.after)
            self.assertTrue(mutant.tests)

    def test_lines_that_have_changed_are_left_out_and_are_few(self):
        there = mutants.those_there(ROOT)
        self.assertLess(len(mutants.read_list()) - len(there), 20, "draw the list anew")
        self.assertTrue(all(m.before in (ROOT / m.path).read_text() for m in there))
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "f.cpp").write_text(SOURCE)
            for skip, there in ((0, True), (1, False)):
                mutant = mutants.Mutant("m", "room", "f.cpp", "    add(i);", skip, "    ;", ["test"])
                self.assertEqual(mutant.is_there(folder), there)
            self.assertFalse(mutants.Mutant("m", "room", "g.cpp", "", 0, "x", ["test"]).is_there(folder))


if __name__ == "__main__":
    unittest.main()
