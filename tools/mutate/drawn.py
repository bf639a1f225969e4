"""Mistakes drawn by a seed: an operator, then a place for it, over the rooms that users meet first.

Each operator turns a line into every line that somebody might have written instead. The draw is one of
operators, rooms and places in this order, so that a rare kind of mistake is tried as often as a frequent one.
A seed gives the same mistakes in the same sources; the first eight hex digits of a commit are one.
"""
import pathlib
import random
import re

from mutants import Mutant, PASSED_OVER

# Of each room: folders, folders that are no part of it, share of the draw, the tests that must notice.
PYTHON_TESTS = "ctest:python_.*"
ROOMS = {
    "gemm": (["src/gemm"], ["src/gemm/c_api", "src/gemm/cost/tuning"], 7, ["test_gemm", "test_library"]),
    "problem": (["src/problem"], [], 2, ["test_problem", "test_gemm"]),
    "device": (["src/device"], [], 2, ["test_device", "test_library"]),
    "c_api": (["src/gemm/c_api", "include/tessera"], [], 3, ["test_library", PYTHON_TESTS]),
    "python": (["python/tessera"], [], 4, [PYTHON_TESTS]),
    "kernels": (["src/kernels/schedule", "src/kernels/tile", "src/kernels/epilogue"], [], 2,
                ["test_kernels", "test_gemm"]),
}
WORD = r"[A-Za-z_][\w.]*(?:->\w+)*"


def replaced(line, pattern, new):
    """The line once for each match, with that one replaced; `new` may be a function of the match."""
    return [line[:m.start()] + (new(m) if callable(new) else new) + line[m.end():]
            for m in re.finditer(pattern, line)]


def off_by_one(line):
    found = replaced(line, r" < (?!<)", " <= ") + replaced(line, r" <= ", " < ")
    found += replaced(line, r" >= ", " > ")
    found += replaced(line, r" > (?!>)", " >= ") if "template" not in line else []
    found += replaced(line, r" [+-] 1\b(?![.'])", "")
    return found + replaced(line, r"(?<=[(\[{, ])([2-9]|1[0-9])(?=[)\];,])", lambda m: str(int(m[1]) + 1))


def condition(line):
    """One that is dropped, or negated."""
    found = replaced(line, r"\bif \(!(?=[\w(])", "if (")
    found += replaced(line, r" == (?!')", " != ") + replaced(line, r" != ", " == ")
    found += replaced(line, rf"(?<=\(){WORD}(\([^()]*\))? (&&|\|\|) ", "")
    found += replaced(line, r" (&&|\|\|) [^&|()]+(?=\)( \{|;| return| continue|$))", "")
    found += replaced(line, r"^(\s*)if \([^()]*(\([^()]*\))?[^()]*\) (?=\w.*;$)", lambda m: m[1])
    # Python's
    found += replaced(line, r"\bif not ", "if ")
    found += replaced(line, r" is not None\b", " is None") + replaced(line, r" is None\b", " is not None")
    return found + replaced(line, r"\b(\w[\w.]*) (and|or) ", "")


def swapped(line):
    """Two operands of a call, or of an operator that minds."""
    found = replaced(line, rf"(?<=\()({WORD}), ({WORD})(?=[,)])", lambda m: f"{m[2]}, {m[1]}")
    found += replaced(line, rf"(?<=, )({WORD}), ({WORD})(?=\))", lambda m: f"{m[2]}, {m[1]}")
    return found + replaced(line, rf"(?<=[(= ])({WORD}) ([-/%]) ({WORD})(?=[);,])",
                            lambda m: f"{m[3]} {m[2]} {m[1]}")


# Members that lie side by side and have one type; the next one of the row is taken by mistake.
ROWS = [row.split() for row in (
    "m n k", "lda ldb ldc ldd", "a b c d", "op_a op_b", "stride_a stride_b stride_c stride_d", "alpha beta",
    "rows cols", "row col", "c_row d_row", "scale bias", "first last", "begin end", "x y z", "width height", "ptx cubin",
    "tiles_m tiles_n", "lda_bytes ldb_bytes", "shape strides", "front back")]
NEIGHBOUR = {one: row[(i + 1) % len(row)] for row in ROWS for i, one in enumerate(row)}


def neighbour(line):
    names = "|".join(sorted(NEIGHBOUR, key=len, reverse=True))
    return replaced(line, rf"(?<=[\w)\]])(\.|->)({names})\b(?!\()", lambda m: m[1] + NEIGHBOUR[m[2]])


WAIT = re.compile(r"^(\s*)[\w.>\[\]()-]*\b\w*"
                  r"(wait|synchroni[sz]e|record|fence|barrier|commit|flush|lock_guard|acquire|release)\w*\(?.*;?$",
                  re.IGNORECASE)
NO_CALL = re.compile(r"\b(def|return|if|while|for|with)\b|=|^\s*(void|bool|int)\b")


def dropped_wait(line):
    match = WAIT.match(line)
    if not match or not re.search(r"\)\s*;?$", line) or NO_CALL.search(line):
        return []
    return [match[1] + (";" if line.endswith(";") else "pass")]


def wrong_unit(line):
    found = replaced(line, r" \* (size_of|sizeof|bytes_of)\s*\([^()]*(\([^()]*\))?[^()]*\)", "")
    found += replaced(line, r" (\*|/|//) \w*(itemsize|element_bytes|bytes)\b", "")
    found += replaced(line, r" << 20\b", " << 10") + replaced(line, r" << 30\b", " << 20")
    found += replaced(line, r"\b1e-?[369]\b", "1")
    return found + replaced(line, r" (\*|/|//|%) (4|8|16|32|64|100|1000|1024)\b(?!\.)", "")


OPERATORS = {"off by one": off_by_one, "condition": condition, "swapped operands": swapped,
             "neighbouring field": neighbour, "dropped wait": dropped_wait, "wrong unit": wrong_unit}


def code_of(line, is_python):
    """The line up to its comment; empty where nothing is drawn: texts, declarations of types, templates."""
    code = line.split(" #" if is_python else " //")[0].rstrip()
    if not code.startswith(" ") or re.match(r"^\s*(@|\"\"\"|'|assert\b)", code):
        return ""
    if not is_python and PASSED_OVER.search(code):
        return ""
    return "" if is_python and re.search(r"\braise\b|^\s*[\"']|f\"|\"\"\"", code) else code


def host_safe(text):
    """Whether the host compiles a header of kernels, too: nothing in it is of the device alone."""
    return not re.search(r"\basm\b|ptx::|__shared__|threadIdx|blockIdx|__device__ (?!__host__)(?!constexpr)", text)


def places(root, room, operator):
    """(path, line number, lines, what is written instead) of every mistake of that kind in a room."""
    folders, others, _, _ = ROOMS[room]
    found = []
    for folder in folders:
        for file in sorted(pathlib.Path(root, folder).rglob("*")):
            path = str(file.relative_to(root))
            if file.suffix not in (".cpp", ".h", ".hpp", ".py") or any(path.startswith(o) for o in others):
                continue
            text = file.read_text()
            if room == "kernels" and not host_safe(text):
                continue
            lines = text.split("\n")
            quoted = False  # inside of a Python text of several lines
            for i, line in enumerate(lines):
                was_quoted, quoted = quoted, quoted ^ (file.suffix == ".py" and line.count('"""') % 2 == 1)
                code = "" if was_quoted or quoted else code_of(line, file.suffix == ".py")
                if code:
                    found += [(path, i, lines, new + line[len(code):]) for new in OPERATORS[operator](code)]
    return found


def draw(root, seed, count):
    """So many mistakes, at most three in a file and one in a line."""
    rng = random.Random(int(seed, 16))
    rooms, shares = list(ROOMS), [ROOMS[room][2] for room in ROOMS]
    known, used, drawn = {}, [], []
    for _ in range(100 * count):
        if len(drawn) == count:
            break
        operator, room = rng.choice(list(OPERATORS)), rng.choices(rooms, shares)[0]
        if (operator, room) not in known:
            known[operator, room] = places(root, room, operator)
        if not known[operator, room]:
            continue
        path, i, lines, after = rng.choice(known[operator, room])
        if (path, i) in used or sum(p == path for p, _ in used) >= 3 * max(1, count // 100):
            continue
        used.append((path, i))
        name = f"{room}_{seed}_{len(drawn) + 1:03}"
        drawn.append(Mutant(name, room, path, lines[i], lines[:i].count(lines[i]), after, ROOMS[room][3],
                            operator=operator))
    return drawn
