"""The .ptx tests of instructions that the generator writes are those that are committed, byte by byte."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

INSTRUCTIONS = Path(__file__).resolve().parents[1] / "vgpu/instructions"
sys.path.insert(0, str(INSTRUCTIONS / "generator"))
sys.dont_write_bytecode = True
import core  # noqa: E402


def differences(folder):
    """One sentence for each file of the folder that is not the committed one."""
    found = []
    for made in sorted(Path(folder).glob("*.ptx")):
        committed = INSTRUCTIONS / made.name
        if not committed.exists():
            found.append(f"{made.name} is not committed")
        elif committed.read_bytes() != made.read_bytes():
            found.append(f"{made.name} differs")
    return found


class Generator(unittest.TestCase):
    def test_it_writes_what_is_committed(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-B", INSTRUCTIONS / "generator", folder], check=True)
            self.assertGreater(len(list(Path(folder).glob("*.ptx"))), 300)
            self.assertEqual(differences(folder), [])
            made = {path.stem for path in Path(folder).glob("*.ptx")}
            committed = {path.stem for path in INSTRUCTIONS.glob("*.ptx")}
            self.assertEqual(committed - made, set(core.HAND_WRITTEN))

    def test_a_name_is_written_once_and_never_over_a_test_by_hand(self):
        with tempfile.TemporaryDirectory() as folder:
            core.FOLDER = Path(folder)
            core.Kernel("planted", "nop", "  ret;", []).write()
            for name in ("planted", *core.HAND_WRITTEN):
                with self.assertRaises(AssertionError):
                    core.Kernel(name, "nop", "  ret;", []).write()
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["planted.ptx"])

    def test_a_changed_file_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            hand_written = INSTRUCTIONS / "bar_after_exit.ptx"
            (Path(folder) / "bar_after_exit.ptx").write_bytes(hand_written.read_bytes() + b" ")
            (Path(folder) / "new.ptx").write_text("")
            self.assertEqual(differences(folder),
                             ["bar_after_exit.ptx differs", "new.ptx is not committed"])


if __name__ == "__main__":
    unittest.main()
