#!/usr/bin/env python3
"""docs/api/ is what the headers and the package say today, and leaves out nothing that is public."""
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]


def tool():
    spec = importlib.util.spec_from_file_location("api_reference", ROOT / "tools/tables/api_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


api = tool()
HEADER = (ROOT / "include/tessera/gemm.h").read_text()
CPP = (ROOT / "include/tessera/gemm.hpp").read_text()


class ApiReference(unittest.TestCase):
    def test_pages_are_of_today(self):
        for name, wanted in api.pages(ROOT).items():
            self.assertEqual((ROOT / name).read_text(), wanted, "run: tools/tables/api_reference.py")

    def test_one_command_writes_these_pages_and_all_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "README.md").write_text("")
            (pathlib.Path(folder) / "python").mkdir()
            for name in ("include", "python/tessera", "results"):
                (pathlib.Path(folder) / name).symlink_to(ROOT / name)
            call = [sys.executable, ROOT / "tools/tables/update_tables.py", "--root", folder]
            printed = subprocess.run(call, capture_output=True, text=True, check=True).stdout
            for name, wanted in api.pages(ROOT).items():
                self.assertIn(f"{name} updated", printed)
                self.assertEqual((pathlib.Path(folder) / name).read_text(), wanted)
            (pathlib.Path(folder) / "docs/api/cpp.md").write_text("stale")
            again = subprocess.run([*call, "--check"], capture_output=True, text=True)
            self.assertEqual((again.returncode, again.stdout.count("\n")), (1, 1), again.stdout)

    def test_a_changed_comment_changes_the_page(self):
        last_words = list(re.finditer(r"/\*(?:(?!\*/).)*?(\w+)\W*\*/", HEADER, re.S))
        self.assertGreater(len(last_words), 50)
        pages = api.c_functions(HEADER), api.c_types(HEADER)
        for word in last_words:
            changed = HEADER[:word.start(1)] + "changed" + HEADER[word.end(1):]
            self.assertNotEqual((api.c_functions(changed), api.c_types(changed)), pages, word[0])

    def test_every_function_is_there_and_described(self):
        names = re.findall(r"^(?:tessera_status|const char\*|int32_t) (tessera_\w+)\(", HEADER, re.M)
        self.assertGreater(len(names), 15)
        rows = {name: comment for kind, name, _, comment, _ in api.c_declarations(HEADER)
                if kind == "function"}
        self.assertEqual(set(rows), set(names))
        # Described together with the declaration before it.
        together = {"tessera_version_number", "tessera_set_log"}
        self.assertEqual({name for name in names if not rows[name]}, together)

    def test_every_field_and_constant_is_there(self):
        page = api.c_types(HEADER)
        bare = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.S)
        for name in re.findall(r"\b(TESSERA_[A-Z0-9_]+) = ", bare):
            self.assertIn(f"`{name} = ", page)
        structs = re.findall(r"typedef struct \w+ \{(.*?)\n\}", bare, re.S)
        self.assertEqual(len(structs), 7)
        for body in structs:
            for declaration in re.sub(r"#.*", "", body).split(";"):
                words = " ".join(declaration.split())
                if words:
                    self.assertIn(f"| `{words}` |", page)

    def test_every_public_name_of_cpp_is_there(self):
        page = api.cpp_page(CPP)
        names = set(re.findall(r"^(?:class|struct) (\w+)", CPP, re.M))
        names |= set(re.findall(r"^(?:inline |template <.*>\n)?[\w:<>]+ (\w+)\(", CPP, re.M))
        for name in names - {"op_of", "require_same", "kind_of"}:
            self.assertRegex(page, rf"\b{name}\b")
        self.assertNotRegex(page, r"detail::|private|return |NOLINT|handle_\b|plan_\b")
        self.assertEqual(page.count("{"), page.count("}"))
        self.assertEqual(page.count("```") % 2, 0)

    def test_every_public_name_of_python_is_there(self):
        page = api.python_page(ROOT / "python/tessera")
        init = (ROOT / "python/tessera/__init__.py").read_text()
        for name in re.findall(r'"(\w+)"', init[init.index("__all__"):init.index("__version__")]):
            self.assertIn(f"## {name}\n", page)
        self.assertIn("beta is 1 with a c and 0 without.", page)
        self.assertIn("class OutOfMemoryError(Error, MemoryError)", page)
        self.assertIn("\nplan.explain() -> Explanation\n", page)


if __name__ == "__main__":
    unittest.main()
