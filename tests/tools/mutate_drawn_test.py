"""Drawn mistakes: each operator writes what somebody might write, and a seed draws them alike."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/mutate"))

import direct  # noqa: E402
import drawn  # noqa: E402
import mutants  # noqa: E402
import switches  # noqa: E402
import weave  # noqa: E402


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
            code, _, kept = one.build_with("src/a.cpp", ["test_a", "libtessera_a.so"])
            self.assertEqual(code, 0)
            self.assertEqual(ran, ["cd build && make a.o", "cd build && make libtessera_a.so"])
            self.assertEqual((build / "a.o").read_text(), "new")
            one.put_back(kept)
            self.assertEqual({p.name: p.read_text() for p in build.iterdir()},
                             {"a.o": "old", "t.o": "old", "libtessera_a.so": "old"})


SOURCE = """#include <cstdio>
struct Box { int rows = 2, cols = 3; };
constexpr int least(int a, int b) { return a < b ? a : b; }
static int sum(int n, const Box& box) {
  constexpr int kStep = 2;
  int all = 0;
  for (int i = 0; i < n; ++i) {
    if (i == 3 && n > 6) continue;
    all += least(i, n - 4) * kStep + box.rows;
    all -= 1;
  }
  if (all > 100) return 100;
  return all + least(n,
                     box.cols);
}
static_assert(least(1, 2) == 1);
int main() {
  for (int n = 0; n < 9; ++n) std::printf("%d ", sum(n, {n, 5}));
}
"""
MISTAKES = [("  for (int i = 0; i < n; ++i) {", "  for (int i = 0; i <= n; ++i) {"),
            ("    if (i == 3 && n > 6) continue;", "    if (i == 3) continue;"),
            ("    all += least(i, n - 4) * kStep + box.rows;", "    all += least(i, n) * kStep + box.rows;"),
            ("    all -= 1;", "    ;"),
            ("  if (all > 100) return 100;", "  return 100;"),
            ("  return all + least(n,", "  return all - least(n,"),
            ("                     box.cols);", "                     box.rows);"),
            ("constexpr int least(int a, int b) { return a < b ? a : b; }",
             "constexpr int least(int a, int b) { return a > b ? a : b; }"),
            ("  constexpr int kStep = 2;", "  constexpr int kStep = 3;")]


def mistake(number, path="a.cpp"):
    before, after = MISTAKES[number]
    return mutants.Mutant(f"m{number}", "room", path, before, 0, after, ["test"])


class Weave(unittest.TestCase):
    def output(self, folder, text, **environment):
        source = pathlib.Path(folder, "a.cpp")
        source.write_text(text)
        subprocess.run(["g++", "-std=c++20", "-w", "-I", folder, "-o", f"{folder}/a", source], check=True)
        return self.ran(folder, **environment)

    def ran(self, folder, **environment):
        return subprocess.run([f"{folder}/a"], check=True, capture_output=True, text=True,
                              env=os.environ | environment).stdout

    def test_one_program_makes_each_mistake_when_it_is_told_to(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "mistake.h").write_text(weave.HEADER)
            known = [switches.Switch(i, mistake(i), SOURCE) for i in range(8)]
            known[7].forms = [("expression", SOURCE.find("a < b"), SOURCE.find("a < b") + 5, "a > b")]
            text = '#include "mistake.h"\n#line 1\n' + weave.woven(SOURCE, [one.now() for one in known])
            self.assertEqual(text.count("\n"), SOURCE.count("\n") + 2, "lines keep their numbers")
            clean = self.output(folder, text)
            told = [self.ran(folder, TESSERA_MISTAKE=str(i)) for i in range(8)]
            reached = pathlib.Path(folder, "reached")
            reached.write_bytes(bytes(weave.REACHED_BYTES))
            self.ran(folder, TESSERA_REACHED=str(reached))
            self.assertEqual([i for i, byte in enumerate(reached.read_bytes()) if byte], list(range(8)))
            self.assertEqual(clean, self.output(folder, SOURCE))
            for i, one in enumerate(told[:7]):
                alone = self.output(folder, SOURCE.replace(*MISTAKES[i]))
                self.assertEqual(one, alone, MISTAKES[i])
                self.assertNotEqual(one, clean, MISTAKES[i])
            self.assertNotEqual(told[7], clean, "the constant of static_assert is what it was")

    def test_a_statement_with_braces_is_one_but_a_block_is_none(self):
        for line, kinds in (("  if (a < b) return {};", ["expression", "statement"]), ("  if (a < b) {", ["expression"])):
            text = "int f() {\n" + line + "\n  g();\n  }\n}\n"
            mutant = mutants.Mutant("m", "room", "a.cpp", line, 0, line.replace("<", "<="), ["test"])
            self.assertEqual([kind for kind, *_ in weave.forms(text, mutant)], kinds)

    def test_a_constant_is_no_switch(self):
        self.assertEqual(weave.forms(SOURCE, mistake(8)), [])
        self.assertTrue(switches.Switch(7, mistake(7), SOURCE).in_constexpr)
        self.assertFalse(switches.Switch(1, mistake(1), SOURCE.replace("constexpr int kStep", "int k")).in_constexpr)

    def test_what_the_compiler_refuses_takes_the_next_form(self):
        one = switches.Switches.__new__(switches.Switches)
        one.texts = {"src/a.cpp": SOURCE}
        one.switches = [switches.Switch(i, mistake(i, "src/a.cpp"), SOURCE) for i in (1, 2)]
        one.write = lambda path: None
        kinds = [kind for kind, *_ in one.switches[1].forms]
        self.assertEqual(kinds, ["expression", "statement"])
        line = SOURCE[:SOURCE.find("all += least")].count("\n") + 1
        for _ in kinds:
            self.assertEqual(one.pass_over(f"../src/a.cpp:{line}:9: error: no"), {"src/a.cpp"})
        self.assertIsNone(one.switches[1].now())
        self.assertEqual(one.switches[0].form, 0)
        self.assertRaises(RuntimeError, one.pass_over, "../src/b.cpp:1:1: error: no")


class Answers(unittest.TestCase):
    """Four tests: "p:sees" fails with mistake 1, "p:flaky" always, "p:hangs" hangs with mistake 3."""

    def setUp(self):
        self.asked = asked = []

        class Tests:
            def ask(self, names, seconds, **environment):
                asked.append(list(names))
                mistake = environment.get("TESSERA_MISTAKE")
                if "p:hangs" in names and mistake == 3:
                    return None, ""
                wrong = "p:sees" in names and mistake == 1
                return int(wrong or "p:flaky" in names), "[  FAILED  ] sees" if wrong else ""

        self.one = switches.Switches.__new__(switches.Switches)
        self.one.tests = Tests()
        self.one.met = {"p:slow": (60, [1, 2]), "p:sees": (0.1, [1]), "p:quick": (0.01, [1, 2]), "p:hangs": (1, [3])}

    def switch(self, number, kind="switch", in_constexpr=False):
        switch = switches.Switch(number, mistake(number), SOURCE)
        switch.kind, switch.in_constexpr = kind, in_constexpr
        return switch

    def answer(self, number, **more):
        return self.one.answer(self.switch(number, **more))

    def test_the_quickest_tests_that_meet_it_are_asked_until_one_fails(self):
        self.assertEqual(self.answer(1), ("noticed", "p:sees", "[  FAILED  ] sees", False, 3))
        self.assertNotIn("p:slow", sum(self.asked, []))
        self.assertEqual(self.answer(3)[:4], ("noticed", "p:hangs", "it did not end", True))

    def test_one_that_changes_nothing_survives_all_that_meet_it(self):
        self.assertEqual(self.answer(2), ("survived", None, "", False, 2))
        self.assertEqual(self.asked, [["p:quick"], ["p:slow"]])

    def test_a_test_that_fails_anyway_is_no_judge(self):
        self.one.met = {"p:flaky": (0.1, [2])}
        self.assertEqual(self.answer(2)[0], "survived")

    def test_one_that_no_test_meets_is_compiled_alone_and_says_so(self):
        self.one.with_mistake = lambda switch, what: what()
        self.one.programs = ["p"]

        class Direct:
            def build_with(self, path, programs):
                return 0, "", {}

            def put_back(self, kept):
                pass

        self.one.direct = Direct()
        self.assertEqual(self.answer(5), ("survived", None, "", False, 0))
        self.assertEqual({name for batch in self.asked for name in batch}, set(self.one.met))
        self.asked.clear()
        self.assertIsNone(self.one.answer(self.switch(5), may_compile=False), "later")
        self.assertEqual(self.answer(2, in_constexpr=True)[0], "survived")
        self.assertIn(["p:hangs"], self.asked, "a constant may matter to any test")


if __name__ == "__main__":
    unittest.main()
