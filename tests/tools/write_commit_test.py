"""The commit that records name: of a checkout, of a changed one, of none; written when it changes."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent.parent / "tools" / "build" / "write_commit.sh"


class WriteCommit(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.source = Path(self.folder.name) / "source"
        self.source.mkdir()
        self.output = Path(self.folder.name) / "build" / "commit.cpp"

    def git(self, *words):
        names = ["-c", "user.name=x", "-c", "user.email=x"]
        # WHY: a test inside a git hook must not see the hook's repository.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        return subprocess.run(["git", "-C", self.source, *names, *words], check=True, text=True,
                              capture_output=True, env=environment).stdout.strip()

    def make_checkout(self):
        self.git("init", "-q")
        (self.source / "file").write_text("one\n")
        self.git("add", "file")
        self.git("commit", "-q", "-m", "One")
        return self.git("rev-parse", "--short=12", "HEAD")

    def commit(self, source=None):
        subprocess.run([SCRIPT, source or self.source, self.output], check=True)
        return self.output.read_text().split('return "')[1].split('"')[0]

    def test_outside_of_a_checkout_it_is_unknown(self):
        self.assertEqual(self.commit(), "unknown")

    def test_a_checkout_has_a_commit_and_a_changed_one_says_so(self):
        head = self.make_checkout()
        self.assertEqual(self.commit(), head)
        (self.source / "file").write_text("two\n")
        self.assertEqual(self.commit(), head + "-dirty")
        self.git("tag", "v1")
        self.git("commit", "-q", "-a", "-m", "Two")
        self.assertEqual(self.commit(), self.git("rev-parse", "--short=12", "HEAD"))

    def test_files_that_git_does_not_know_change_nothing(self):
        head = self.make_checkout()
        (self.source / "notes").write_text("mine\n")
        self.assertEqual(self.commit(), head)

    def test_sources_inside_another_checkout_do_not_take_its_commit(self):
        self.make_checkout()
        inner = self.source / "third_party"
        inner.mkdir()
        self.assertEqual(self.commit(inner), "unknown")

    def test_a_text_is_the_commit_alone(self):
        head = self.make_checkout()
        text = self.output.with_suffix(".txt")
        subprocess.run([SCRIPT, self.source, text], check=True)
        self.assertEqual(text.read_text(), head + "\n")

    def test_the_same_commit_compiles_nothing_again(self):
        head = self.make_checkout()
        self.commit()
        os.utime(self.output, (1, 1))
        self.assertEqual(self.commit(), head)
        self.assertEqual(self.output.stat().st_mtime, 1)
        (self.source / "file").write_text("two\n")
        self.commit()
        self.assertNotEqual(self.output.stat().st_mtime, 1)


if __name__ == "__main__":
    unittest.main()
