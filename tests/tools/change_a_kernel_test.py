"""What docs/change-a-kernel.md tells people to type and to look at is there."""
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/change-a-kernel.md"
WORDS_A_MINUTE = 250


def unknown(text, root=ROOT):
    """Folders, files, targets and options that the page names and the checkout does not have."""
    missing = []
    for path in re.findall(r"(?:src|docs|tests|tools)/[\w./-]+", text):
        path = path.replace("NN_idea", "12_warp_tile").rstrip("./")
        if not (root / path).exists():
            missing.append(path)
    for folder in re.findall(r"`([a-z]+)/`", text):
        if not (root / "src/kernels" / folder).is_dir():
            missing.append(folder)
    built = "".join((root / name).read_text() for name in ("CMakeLists.txt", "cmake/rooms.cmake", "cmake/images.cmake",
                                                           "cmake/library.cmake"))
    rooms = {path.name for path in (root / "tests").iterdir()}
    for target in re.findall(r"--target ([\w ]+)", text):
        missing += [word for word in target.split() if not re.search(rf"\b{word}\b", built)]
    missing += [f"test_{room}" for room in re.findall(r"build/test_(\w+)", text) if room not in rooms]
    commands = "".join(path.read_text() for path in (root / "src/cli").rglob("*.cpp"))
    for call in re.findall(r"build/tessera (.*)", text):
        missing += [option for option in re.findall(r"--[a-z]+", call) if f"{option}" not in commands]
    return missing


class ChangeAKernel(unittest.TestCase):
    def test_what_it_names_is_there(self):
        self.assertEqual(unknown(PAGE.read_text()), [])

    def test_what_is_not_there_is_found(self):
        planted = ("`src/kernels/families/other.cu` `mainlop/` build/test_kernel\nbuild/tessera bench --agains x\n"
                   "cmake --build build --target tesera")
        self.assertEqual(unknown(planted), ["src/kernels/families/other.cu", "mainlop", "tesera", "test_kernel"])

    def test_it_is_read_in_two_minutes(self):
        self.assertLessEqual(len(PAGE.read_text().split()), 2 * WORDS_A_MINUTE)

    def test_it_is_linked_where_a_rung_is(self):
        readme = (ROOT / "README.md").read_text()
        self.assertIn("(docs/change-a-kernel.md)", readme)
        self.assertIn("(how-to/add-a-rung.md)", PAGE.read_text())


if __name__ == "__main__":
    unittest.main()
