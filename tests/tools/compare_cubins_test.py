"""Comparing the machine code of two builds: equal, changed, renamed, missing and new entries."""
import contextlib
import io
import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools" / "build"))
import compare_cubins  # noqa: E402


def cubin(entries):
    """An ELF file with a .text section per entry, and one of names."""
    names, code, sections = b"\0", b"", []
    for entry, text in entries.items():
        sections.append((len(names), 64 + len(code), len(text)))
        names += b".text." + entry.encode() + b"\0"
        code += text
    sections.append((len(names), 64 + len(code), len(names) + len(b".shstrtab\0")))
    names += b".shstrtab\0"
    header = bytearray(64)
    header[:4] = b"\x7fELF"
    struct.pack_into("<Q", header, 40, 64 + len(code) + len(names))
    struct.pack_into("<HHH", header, 58, 64, len(sections), len(sections) - 1)
    table = b"".join(struct.pack("<IIQQQQIIQQ", name, 1, 0, 0, at, size, 0, 0, 0, 0)
                     for name, at, size in sections)
    return bytes(header) + code + names + table


class CompareCubins(unittest.TestCase):
    def compare(self, old, new, table=""):
        """`old`, `new`: file name -> entries."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for side, files in (("old", old), ("new", new)):
                (root / side).mkdir()
                for name, entries in files.items():
                    (root / side / name).write_bytes(cubin(entries) if entries else b"")
            (root / "table").write_text(table)
            text = io.StringIO()
            with contextlib.redirect_stdout(text):
                code = compare_cubins.main([str(root / "old"), str(root / "new"),
                                            "--renamed", str(root / "table")])
            return code, text.getvalue()

    def test_equal_code_in_other_files_is_equal(self):
        code, text = self.compare({"x.cubin": {"a": b"1" * 32, "b": b"2" * 16}, "empty.cubin": {}},
                                  {"y.cubin": {"b": b"2" * 16}, "z.cubin": {"a": b"1" * 32}})
        self.assertEqual(code, 0)
        self.assertIn("2 entries, 2 now: the same code", text)

    def test_a_changed_byte_is_found(self):
        code, text = self.compare({"x.cubin": {"a": b"1" * 32}}, {"x.cubin": {"a": b"1" * 31 + b"2"}})
        self.assertEqual(code, 1)
        self.assertIn("a: differs: 2 -> 2 instructions", text)

    def test_a_missing_entry_is_found_and_a_new_one_is_said(self):
        self.assertEqual(self.compare({"x.cubin": {"a": b"1"}}, {"x.cubin": {"b": b"1"}})[0], 1)
        code, text = self.compare({"x.cubin": {"a": b"1"}}, {"x.cubin": {"a": b"1", "b": b"1"}})
        self.assertEqual(code, 0)
        self.assertIn("b: new", text)

    def test_renamed_entries_are_compared(self):
        old, new = {"x.cubin": {"a": b"1" * 16}}, {"x.cubin": {"b": b"1" * 16}}
        self.assertEqual(self.compare(old, new, "# old new\na b\n")[0], 0)
        self.assertEqual(self.compare(old, {"x.cubin": {"b": b"2" * 16}}, "a b\n")[0], 1)

    def test_patched_code_is_compared_with_patched_code(self):
        old = {"x.cubin": {"a": b"1"}, "x.patched.cubin": {"a": b"2"}}
        self.assertEqual(self.compare(old, old)[0], 0)
        self.assertEqual(self.compare(old, {**old, "x.patched.cubin": {"a": b"1"}})[0], 1)

    def test_nothing_is_not_equal_to_something(self):
        self.assertEqual(self.compare({}, {"x.cubin": {"a": b"1"}})[0], 1)


if __name__ == "__main__":
    unittest.main()
