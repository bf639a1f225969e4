"""What a timed build says of its steps: the sum by target, and which image is above its budget."""
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent.parent / "tools" / "build" / "cpu_time"


class CpuTime(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = Path(folder.name) / "cpu.txt"

    def run_script(self, *words):
        return subprocess.run([SCRIPT, *words], text=True, capture_output=True)

    def test_a_step_is_noted_and_its_exit_status_kept(self):
        for command, status in (("true", 0), ("false", 1)):
            self.assertEqual(self.run_script(self.log, "room", "a.o", command).returncode, status)
        self.assertEqual([line.split()[1:] for line in self.log.read_text().splitlines()],
                         [["room", "a.o"]] * 2)

    def test_an_image_above_the_budget_is_named(self):
        self.log.write_text("16 step /x/images/a.ptx\n0.2 step /x/images/a.ptx\n"
                            "3 step images/b.ptx\n30 room x.cpp.o\n")
        above = self.run_script("--budget", "15", self.log)
        self.assertEqual(above.returncode, 1)
        self.assertIn("16.2  /x/images/a.ptx", above.stdout)
        self.assertIn("2 images, 1 above", above.stdout)
        self.assertNotIn("x.cpp.o", above.stdout)
        self.assertEqual(self.run_script("--budget", "17", self.log).returncode, 0)

    def test_a_build_without_images_has_not_kept_to_it(self):
        self.log.write_text("30 room x.cpp.o\n")
        self.assertEqual(self.run_script("--budget", "15", self.log).returncode, 1)


if __name__ == "__main__":
    unittest.main()
