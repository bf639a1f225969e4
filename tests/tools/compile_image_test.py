"""What compile_image.sh does around nvcc: what an image's key holds, and what ptxas may not say."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent.parent / "tools" / "build" / "compile_image.sh"

# Writes what nvcc would, and says of a cubin what the file "ptxas" beside it holds.
NVCC = r"""#!/bin/bash
here=$(dirname "$0")
while (($#)); do
  case $1 in
    -o) output=$2; shift ;;
    -M) list=1 ;;
    -MF) dependences=$2; shift ;;
    -ptx) ptx=1 ;;
    --version) echo "nvcc of a test"; exit ;;
  esac
  last=$1; shift
done
if [[ ${list:-} || ${dependences:-} ]]; then
  dependences=${dependences:-$output}
  echo "x.ptx: $last $here/source/src/kernel.cu \\" > "$dependences"
  echo " $here/build/generated/header.h /usr/include/other.h" >> "$dependences"
fi
if [[ ${list:-} ]]; then
  exit
elif [[ ${ptx:-} ]]; then
  echo run >> "$here/runs"
  printf '\t.file 1 "%s/build/generated/header.h"\n' "$here" > "$output"
else
  echo cubin > "$output"
  cat "$here/ptxas" >&2
fi
"""


class CompileImage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("source/src", "build/generated", "build/images"):
            (self.root / name).mkdir(parents=True)
        (self.root / "nvcc").write_text(NVCC)
        os.chmod(self.root / "nvcc", 0o755)
        (self.root / "source/src/kernel.cu").write_text("one\n")
        (self.root / "build/generated/header.h").write_text("one\n")
        (self.root / "build/images/image.cu").write_text("one\n")
        (self.root / "ptxas").write_text("ptxas info : Used 40 registers, 8 bytes spill stores\n")

    def command(self, stem):
        return [SCRIPT, self.root / "nvcc", self.root / "source", self.root / "build/generated",
                stem, "0", "sm_90a"]

    def compile(self):
        return subprocess.run(self.command(self.root / "build/images/image"), text=True,
                              capture_output=True)

    def runs(self):
        return (self.root / "runs").read_text().count("run") if (self.root / "runs").exists() else 0

    def shared(self):
        return [p for p in (self.root / "source/build-images").iterdir() if p.is_dir()]

    def test_a_result_is_shared_until_a_file_that_it_was_made_from_changes(self):
        self.assertEqual(self.compile().returncode, 0)
        self.assertEqual(self.compile().returncode, 0)
        self.assertEqual(self.runs(), 1)
        for name in ("source/src/kernel.cu", "build/generated/header.h", "build/images/image.cu"):
            before = self.runs()
            (self.root / name).write_text("two\n")
            self.assertEqual(self.compile().returncode, 0)
            self.assertEqual(self.runs(), before + 1, name)

    def test_a_result_is_shared_whatever_the_comments_say(self):
        def runs_after(text):
            before = self.runs()
            (self.root / "source/src/kernel.cu").write_text(text)
            self.assertEqual(self.compile().returncode, 0)
            return self.runs() - before

        self.assertEqual(runs_after("// One.\nint x = 1;\nint y;  // Its end.\n"), 1)
        for same in ("// Two.\nint x = 1;\nint y;  // Its end.\n",
                     '  // The "first".\nint x = 1;\nint y;\n'):
            self.assertEqual(runs_after(same), 0, same)
        for other in ("// One.\nint x = 2;\nint y;  // Its end.\n",
                      "// One.\n\nint x = 1;\nint y;  // Its end.\n",
                      "// One. \\\nint x = 1;\nint y;  // Its end.\n",
                      "// One.\nint x = 1; int z;\nint y;  // Its end.\n"):
            self.assertEqual(runs_after(other), 1, other)
        for code in ('f("//one");\n', 'f("//two");\n', "/* // */ int x = 1;\n",
                     "/* // */ int x = 2;\n"):
            self.assertEqual(runs_after(code), 1, code)

    def test_builds_at_the_same_time_share_one_result(self):
        for at in range(12):  # more results than are kept: old ones are removed meanwhile
            (self.root / "source/src/kernel.cu").write_text(f"{at}\n")
            folders = [self.root / f"build/images{i}" for i in range(4)]
            for folder in folders:
                folder.mkdir(exist_ok=True)
                (folder / "image.cu").write_text("one\n")
            before = self.runs()
            builds = [subprocess.Popen(self.command(folder / "image"), stderr=subprocess.PIPE)
                      for folder in folders]
            for build in builds:
                self.assertEqual(build.wait(), 0, build.stderr.read())
                build.stderr.close()
            self.assertEqual(self.runs(), before + 1, "one compiled, the others copied")
        self.assertEqual(len(self.shared()), 10)
        nested = [p for one in self.shared() for p in one.iterdir() if p.is_dir()]
        self.assertEqual(nested, [])
        self.assertTrue((self.root / "source/build-images/image.lock").exists())

    def test_the_ptx_names_no_folder_of_the_build(self):
        self.compile()
        text = (self.root / "build/images/image.ptx").read_text()
        self.assertEqual(text, '\t.file 1 "generated/header.h"\n')

    def test_wgmma_that_ptxas_serialises_stops_the_build_and_is_not_shared(self):
        for code in ("C7510", "C7515"):
            message = (f"ptxas info    : ({code}) Potential Performance Loss: wgmma.mma_async "
                       "instructions are serialized due to a test in the function 'entry'")
            (self.root / "ptxas").write_text(message + "\n")
            result = self.compile()
            self.assertEqual(result.returncode, 1)
            self.assertIn("error: ptxas serialises the wgmma of image image", result.stderr)
            self.assertIn(message, result.stderr)
            self.assertEqual(self.shared(), [])
            self.assertFalse((self.root / "build/images/image.sm_90a.cubin").exists())


if __name__ == "__main__":
    unittest.main()
