"""One-line mistakes: how they are drawn, found in a file, and made.

A mutant names its line by the text and by how many equal lines come before it, so that a list outlives
changes elsewhere in the file.
"""
import itertools
import json
import pathlib
import random
import re

LIST = pathlib.Path(__file__).resolve().parent / "list.json"

# Of each room: the folders of its sources, how many mistakes are drawn, and the tests that must
# notice them.
ROOMS = {
    "base": (["src/base"], 16, ["test_base", "test_check", "test_lab", "test_cli"]),
    "problem": (["src/problem"], 18, ["test_problem", "test_gemm"]),
    "launch": (["src/launch"], 6, ["test_launch", "test_device"]),
    "arch": (["src/arch"], 6, ["test_arch", "test_lab"]),
    "catalog": (["src/catalog"], 10, ["test_catalog", "test_gemm"]),
    "gemm": (["src/gemm"], 32, ["test_gemm", "test_library"]),
    "device": (["src/device"], 12, ["test_device", "test_vgpu"]),
    "vgpu": (["src/vgpu/exec", "src/vgpu/ptx", "src/vgpu/memory"], 32, ["test_vgpu", "test_check"]),
    "checks": (["src/vgpu/async", "src/vgpu/observe"], 24, ["test_vgpu", "test_kernels", "test_check"]),
    "sass": (["src/sass"], 36, ["test_sass"]),
    "lab": (["src/lab"], 28, ["test_lab", "test_cli"]),
    "check": (["src/check"], 18, ["test_check"]),
    "cli": (["src/cli"], 10, ["test_cli"]),
    "kernels": (
        ["src/kernels/tile", "src/kernels/epilogue", "src/kernels/schedule"],
        12,
        ["test_kernels", "test_gemm"],
    ),
    "ladder": (["src/ladder"], 4, ["test_ladder"]),
}

# What a tired person writes instead.
SLIPS = [
    (r" < ", " <= "),
    (r" <= ", " < "),
    (r" >= ", " > "),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" && ", " || "),
    (r" \|\| ", " && "),
    (r" \+ 1\b", ""),
    (r" - 1\b", ""),
    (r"\bif \(!", "if ("),
    (r"\bstd::min\b", "std::max"),
    (r"\bstd::max\b", "std::min"),
    (r"return true;", "return false;"),
    (r"return false;", "return true;"),
    (r" \+= ", " -= "),
    (r"\bcontinue;", "break;"),
    (r" % ", " / "),
    (r" = 0;", " = 1;"),
    (r" / 8\b", " / 4"),
]
# A statement that is a call alone: it is forgotten.
CALL = re.compile(r"^\s+[a-z_][\w.>\-]*(::\w+)*\(.*\);$")
PASSED_OVER = re.compile(
    r"^\s*(//|#|static_assert|template|using|case|friend|virtual|constexpr Rows)|operator|fmt::|refuse\(|"
    r"Status::|\bfault\(|notice\(|assert\(|\"|reserve\(|std::fflush"
)


class Mutant:
    """`filter`: which of the tests are asked, as GoogleTest writes it; of test_ladder all take ten
    minutes. `changes_nothing`: why no test can notice it, where somebody has shown that. `by_hand`:
    somebody chose it, so that drawing the list anew keeps it. `operator`: the kind of a drawn mistake."""

    def __init__(self, name, room, path, before, skip, after, tests, filter="*", changes_nothing=None,
                 by_hand=False, operator=None):
        self.name, self.room, self.path = name, room, path
        self.before, self.skip, self.after = before, skip, after
        self.tests, self.filter = tests, filter
        self.changes_nothing, self.by_hand, self.operator = changes_nothing, by_hand, operator

    def apply(self, root):
        """Returns the text from before, to be put back."""
        file = pathlib.Path(root) / self.path
        text = file.read_text()
        lines = text.split("\n")
        places = [i for i, line in enumerate(lines) if line == self.before]
        if self.skip >= len(places):
            raise LookupError(f"{self.name}: {self.path} has no such line any more")
        lines[places[self.skip]] = self.after
        file.write_text("\n".join(lines))
        return text

    def is_there(self, root):
        """Whether the source still has the line."""
        file = pathlib.Path(root) / self.path
        return file.exists() and file.read_text().split("\n").count(self.before) > self.skip

    def to_json(self):
        more = {"filter": self.filter} if self.filter != "*" else {}
        more |= {"changes_nothing": self.changes_nothing} if self.changes_nothing else {}
        more |= {"by_hand": True} if self.by_hand else {}
        more |= {"operator": self.operator} if self.operator else {}
        return {"name": self.name, "room": self.room, "path": self.path, "before": self.before,
                "skip": self.skip, "after": self.after, "tests": self.tests} | more

    def is_that_of(self, answer):
        """Whether the answer of an earlier run is about this mistake."""
        return all(answer[key] == getattr(self, key) for key in ("path", "before", "skip", "after"))


def read_list(path=LIST):
    return [Mutant(**one) for one in json.loads(pathlib.Path(path).read_text())]


def those_there(root):
    """Of the list, without lines that somebody has changed since it was drawn."""
    return [mutant for mutant in read_list() if mutant.is_there(root)]


def slips_of(line, before):
    """Everything that may be wrong with a line, as whole lines; `before` is the line above it."""
    if PASSED_OVER.search(line) or not line.startswith(" "):
        return []
    code = line.split(" //")[0]
    found = [line[: m.start()] + new + line[m.end() :]
             for old, new in SLIPS for m in re.finditer(old, code)]
    if CALL.match(line) and before.rstrip().endswith((";", "{", "}", ":")):
        found.append(re.match(r"\s*", line).group() + ";")
    return found


def draw(root, seed, listed=()):
    """After those of the list at hand that were chosen by hand, which keep their names."""
    rng = random.Random(seed)
    mutants = [mutant for mutant in listed if mutant.by_hand]
    taken = {mutant.name for mutant in mutants}
    for room, (folders, count, tests) in ROOMS.items():
        files = sorted(p for folder in folders for p in pathlib.Path(root, folder).rglob("*")
                       if p.suffix in (".cpp", ".h"))
        choices = []
        for file in files:
            lines = file.read_text().split("\n")
            for i, line in enumerate(lines):
                choices += [(file, i, lines, slip) for slip in slips_of(line, lines[i - 1])]
        names = (name for i in itertools.count(1) if (name := f"{room}_{i:02}") not in taken)
        used, drawn = set(), 0
        rng.shuffle(choices)
        for file, i, lines, slip in choices:
            path = str(file.relative_to(root))
            if drawn == count or (path, i) in used or sum(p == path for p, _ in used) >= 3:
                continue
            used.add((path, i))
            drawn += 1
            skip = lines[:i].count(lines[i])
            mutants.append(Mutant(next(names), room, path, lines[i], skip, slip, tests))
    return mutants
