"""Drawn mistakes: each operator writes what somebody might write, and a seed draws them alike."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/mutate"))

import direct  # noqa: E402
import drawn  # noqa: E402


class Operators(unittest.TestCase):
    def has(self, operator, line, *expected):
        found = drawn.OPERATORS[operator](line)
        for one in expected:
            self.assertIn(one, found)
            self.assertNotEqual(one, line)

    def test_each_makes_its_mistake(self):
        self.has("off by one", "  for (int i = 0; i < n + 1; ++i) f(i, 4);", "  for (int i = 0; i <= n + 1; ++i) f(i, 4);",
                 "  for (int i = 0; i < n; ++i) f(i, 4);", "  for (int i = 0; i < n + 1; ++i) f(i, 5);")
        self.has("condition", "  if (!a && b == 0) return x;", "  if (a && b == 0) return x;", "  if (!a && b != 0) return x;",
                 "  if (!a) return x;", "  return x;")
        self.has("condition", "    if x is None and y:", "    if x is not None and y:")
        self.has("swapped operands", "  f(a.x, b);", "  f(b, a.x);")
        self.has("swapped operands", "  const int c = (a - b);", "  const int c = (b - a);")
        self.has("neighbouring field", "  q.lda = p->lda;", "  q.ldb = p->lda;", "  q.lda = p->ldb;")
        self.has("dropped wait", "    device_.wait(stream, mark);", "    ;")
        self.has("dropped wait", "    stream.synchronize()", "    pass")
        self.has("wrong unit", "  copy(to, n * size_of(types.a));", "  copy(to, n);")

    def test_words_and_declarations_are_no_places(self):
        for line in ("  // a < b", "  return refuse(\"a < b\");", "template <int a>"):
            self.assertEqual(drawn.code_of(line, False), "")
        self.assertEqual(drawn.code_of('    raise ValueError(f"{a} < b")', True), "")
        self.assertEqual(drawn.code_of("  return a < b;  // here", False), "  return a < b;")
        self.assertEqual(drawn.dropped_wait("  void wait(int a) {"), [])

    def test_device_code_is_no_place(self):
        self.assertFalse(drawn.host_safe("asm volatile(\"\");"))
        self.assertTrue(drawn.host_safe("constexpr int f(int a) { return a < 3; }"))


class Draw(unittest.TestCase):
    def test_a_seed_draws_alike_over_all_rooms_and_operators(self):
        first = drawn.draw(ROOT, "0123abcd", 200)
        self.assertEqual([m.to_json() for m in first], [m.to_json() for m in drawn.draw(ROOT, "0123abcd", 200)])
        self.assertNotEqual([m.to_json() for m in first], [m.to_json() for m in drawn.draw(ROOT, "0123abce", 200)])
        self.assertEqual(len(first), 200)
        self.assertEqual({m.room for m in first}, set(drawn.ROOMS))
        self.assertEqual({m.operator for m in first}, set(drawn.OPERATORS))
        self.assertEqual(len({(m.path, m.before, m.skip) for m in first}), 200, "one in a line")
        for mutant in first:
            self.assertTrue(mutant.is_there(ROOT), mutant.name)
            self.assertNotEqual(mutant.before, mutant.after)


class BuildsDirectly(unittest.TestCase):
    def test_objects_of_other_tests_are_left_alone_and_all_is_put_back(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder, "build")
            build.mkdir()
            for name in ("a.o", "t.o", "libtessera_a.so"):
                (build / name).write_text("old")
            answers = {"deps": "a.o: #deps 1, x (VALID)\n    ../src/a.cpp\n\nt.o: #deps 1\n    ../src/a.cpp\n",
                       "a.o": "a.o:\n  input: x\n  outputs:\n    libtessera_a.so\n    liba.a\n",
                       "t.o": "t.o:\n  outputs:\n    test_other\n"}
            direct.Direct.ninja = lambda self, *words: (
                f"make {words[-1]}" if words[0] == "commands" else answers[words[-1]])
            ran = []

            def run(command):
                ran.append(command)
                (build / command.split()[-1]).write_text("new")
                return 0, ""

            one = direct.Direct(folder, folder, run)
            code, _, kept = one.build_with("src/a.cpp", ["test_a"])
            self.assertEqual(code, 0)
            self.assertEqual(ran, ["cd build && make a.o", "cd build && make libtessera_a.so"])
            self.assertEqual((build / "a.o").read_text(), "new")
            one.put_back(kept)
            self.assertEqual({p.name: p.read_text() for p in build.iterdir()},
                             {"a.o": "old", "t.o": "old", "libtessera_a.so": "old"})


if __name__ == "__main__":
    unittest.main()
