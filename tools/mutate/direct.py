"""Builds what one changed file takes, and no more: the objects that read it, and what links them into the
tests that are asked; then puts everything back. Ninja would also bring images and other tests up to date."""
import os
import pathlib
import re
import shutil
import subprocess

LIBRARY = re.compile(r"libtessera(_\w+)?\.so[.\d]*")


class Direct:
    """`folder`: the checkout; `place`: where it was configured, which the commands of its build name."""

    def __init__(self, folder, place, run):
        self.build = pathlib.Path(folder) / "build"
        self.place, self.run = pathlib.Path(place), run
        self.readers = self.read_deps()

    def ninja(self, *words):
        return subprocess.run(["ninja", "-t", *words], cwd=self.build, capture_output=True, text=True,
                              check=True).stdout

    def read_deps(self):
        """Path in the checkout -> objects whose compilation read it."""
        readers, target = {}, None
        for line in self.ninja("deps").splitlines():
            if not line.startswith(" "):
                target = line.split(":")[0]
            elif line.strip():
                path = os.path.normpath(self.place / "build" / line.strip())
                readers.setdefault(os.path.relpath(path, self.place), set()).add(target)
        return readers

    def outputs(self, name):
        text = self.ninja("query", name)
        return [line.strip() for line in text[text.find("outputs:"):].splitlines()[1:] if line.strip()]

    def libraries_of(self, programs):
        """Our shared libraries that programs link, and those that these link."""
        found, todo = [], list(programs)
        while todo:
            for line in self.ninja("query", todo.pop()).split("outputs:")[0].splitlines():
                name = line.replace("|", " ").strip()
                if LIBRARY.fullmatch(name) and name not in found:
                    found.append(name)
                    todo.append(name)
        return found

    def plan(self, path, programs):
        """Objects, and what is linked of them: `programs` or libraries. Objects of others are left alone."""
        objects, linked = [], []
        for target in sorted(self.readers.get(path, ())):
            links = [one for one in self.outputs(target) if one in programs]
            if links:
                objects.append(target)
                linked += [one for one in links if one not in linked]
        return objects, linked

    def command(self, target):
        return self.ninja("commands", "-s", target).strip()

    def build_with(self, path, programs):
        """(exit code, what the compiler said, what to put back)."""
        objects, linked = self.plan(path, programs)
        kept = {}
        for target in objects + linked:
            kept[target] = self.build / f"{target}.kept"
            shutil.copy2(self.build / target, kept[target])
        for target in objects + linked:
            code, said = self.run(f"cd build && {self.command(target)}")
            if code != 0:
                return code, said, kept
        return 0, "", kept

    def put_back(self, kept):
        for target, copy in kept.items():
            os.replace(copy, self.build / target)
