"""Asks about many mistakes with one build: they are compiled in as switches (weave.py), and each is asked only of
the tests that reach it.

    prepare()   a copy of a built checkout gets all switches; what the compiler refuses as a switch is left out
    record()    every test runs once, alone and without a mistake: how long it takes, and which switches it meets
    answer(m)   the tests that meet the mistake run with it, the quickest first, until one fails; one that also fails
                without the mistake is no judge. A test that takes ten times as long as before has noticed it.

A mistake that is no switch (a constant, a declaration, a template's argument), or whose switch no test meets, is put
into its file and compiled by itself. So is one in a constexpr function that the tests let pass: it may matter where a
constant is computed. A Python file is changed as it is.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import time

import direct
import weave
from mutants import Mutant

STATE = "switches.json"

PROGRAMS = ["test_problem", "test_device", "test_library", "test_gemm", "test_kernels"]
CTESTS = re.compile(r"python_|numpy_matmul$")
FIRST_SECONDS = 0.5  # what the first process of tests takes; each further one takes twice as long
SWITCHED = (".cpp", ".h", ".hpp")
IN_C = ("include/tessera/gemm.h",)  # a header of C, too


class Switch:
    """One mistake: its forms in order, and which of them is compiled in."""

    def __init__(self, number, mutant, text):
        self.number, self.mutant, self.form = number, mutant, 0
        self.is_code = mutant.path.endswith(SWITCHED) and mutant.path not in IN_C
        self.forms = weave.forms(text, mutant) if self.is_code else []
        at = weave.offset_of(text, mutant)
        self.line = text.count("\n", 0, at) + 1
        code = weave.blanked(text)[:at + len(mutant.before)]
        around = re.split(r"^(?=\w)", code, flags=re.MULTILINE)[-1]  # a function, or a class so far
        if not re.match(r"(struct|class|template|namespace)\b", around):
            around = around.partition("{")[0]
        self.in_constexpr = "constexpr" in around

    def now(self):
        return (self.number, *self.forms[self.form]) if self.form < len(self.forms) else None

    def covers(self, text, line):
        now = self.now()
        return now is not None and text.count("\n", 0, now[2]) <= line - 1 <= text.count("\n", 0, now[3])


class Tests:
    """What can be run, and how. `worker` knows how to run a command in the copy."""

    def __init__(self, inside, shell, folder, scratch):
        self.inside, self.shell, self.folder, self.scratch = inside, shell, folder, scratch
        listed = json.loads(self.output("ctest --test-dir build --show-only=json-v1"))["tests"]
        self.ctests = {one["name"]: one["command"] for one in listed if CTESTS.match(one["name"])}

    def output(self, command):
        return subprocess.run(self.inside(command), cwd=self.folder, capture_output=True, text=True, check=True).stdout

    def cases(self, program):
        folder, found = "", []
        for line in self.output(f"build/{program} --gtest_list_tests").splitlines():
            name = line.split(" #")[0].strip()
            if not line.startswith(" "):
                folder = name
            elif not name.startswith("DISABLED_"):
                found.append(f"{program}:{folder}{name}")
        return found

    def all(self):
        return [case for program in PROGRAMS for case in self.cases(program)] + [f"ctest:{n}" for n in self.ctests]

    def ask(self, names, seconds, **environment):
        """(exit code, what it said) of tests of one program in one process."""
        program, _, first = names[0].partition(":")
        environment |= {"OPENBLAS_NUM_THREADS": 1, "PYTHONDONTWRITEBYTECODE": 1}
        if program == "ctest":
            command = " ".join(self.ctests[first])
        else:
            command = f"build/{program}"
            environment |= {"GTEST_BRIEF": 1, "GTEST_FAIL_FAST": 1,
                            "GTEST_FILTER": ":".join(name.partition(":")[2] for name in names)}
        exports = "".join(f"export {key}='{value}'; " for key, value in environment.items())
        return self.shell(self.inside(exports + command), self.folder, seconds)


def processes(names, seconds_of):
    """Tests in the order in which they are asked: lists of one program each, the quickest first."""
    limit, batch, total = FIRST_SECONDS, collections.defaultdict(list), 0
    for name in sorted(names, key=seconds_of):
        if total and total + seconds_of(name) > limit:
            yield from batch.values()
            limit, batch, total = 2 * limit, collections.defaultdict(list), 0
        key = name if name.startswith("ctest:") else name.partition(":")[0]
        batch[key].append(name)
        total += seconds_of(name)
    yield from batch.values()


class Switches:
    def __init__(self, folder, place, inside, shell, scratch, log=print):
        self.folder, self.place, self.inside, self.shell, self.log = folder, place, inside, shell, log
        self.scratch = pathlib.Path(scratch)
        self.reached_file = self.scratch / "reached"
        self.tests = Tests(inside, shell, folder, scratch)
        self.direct = direct.Direct(folder, place, lambda command: shell(inside(command), folder, 3600))
        self.programs = PROGRAMS + self.direct.libraries_of(PROGRAMS)

    # Building

    def prepare(self, drawn):
        """Builds with all switches, and tells the rest apart: "switch", "alone", "python", "does not build"."""
        self.texts = {m.path: (self.folder / m.path).read_text() for m in drawn}
        self.switches = [Switch(i, m, self.texts[m.path]) for i, m in enumerate(drawn)]
        (self.folder / "build/mistake.h").write_text(weave.HEADER)
        for switch in self.switches:
            self.settle(switch)
        paths = sorted({s.mutant.path for s in self.switches if s.forms})
        for path in paths:
            self.write(path)
        self.build(paths)
        for switch in self.switches:
            switch.kind = self.kind_of(switch)
            self.log(f"{switch.mutant.name}: {switch.kind}")

    def settle(self, switch):
        """Passes over forms that would overlap another switch of the file."""
        others = [s.now() for s in self.of_file(switch.mutant.path) if s is not switch and s.now()]
        while switch.now() and weave.crossing(others, switch.now()):
            switch.form += 1

    def of_file(self, path):
        return [s for s in self.switches if s.mutant.path == path]

    def write(self, path):
        """The file with its switches."""
        there = [s.now() for s in self.of_file(path) if s.now()]
        head = f'#include "{self.place}/build/mistake.h"\n#line 1\n' if there else ""
        (self.folder / path).write_text(head + weave.woven(self.texts[path], there))

    def compile(self, target, more=""):
        command = f"cd build && {self.direct.command(target)} {more} -w"
        done = subprocess.run(self.inside(command), cwd=self.folder, capture_output=True, text=True, errors="replace")
        return done.returncode, done.stdout + done.stderr

    def build(self, paths):
        readers, linked = {}, []
        for path in paths:
            readers[path], links = self.direct.plan(path, self.programs)
            linked += [one for one in links if one not in linked]
        objects = sorted({one for some in readers.values() for one in some})
        # What the compiler refuses is seen without compiling, in the rooms, whose files are few and large.
        self.compile_all([one for one in objects if "/tessera_" in one], readers, "-fsyntax-only")
        self.compile_all(objects, readers, "")
        for target in linked:
            code, said = self.compile(target)
            if code != 0:
                raise RuntimeError(f"{target}: {said}")

    def compile_all(self, objects, readers, more):
        todo = list(objects)
        while todo:
            target = todo.pop(0)
            code, said = self.compile(target, more)
            self.log(f"{len(todo)} left: {target} {more}: {'compiles' if code == 0 else 'refused'}")
            if code != 0:
                paths = self.pass_over(said)
                todo = [target] + todo
                todo += [one for path in paths for one in readers[path] if not more and one not in todo]

    def pass_over(self, said):
        """The next form of each switch that the compiler names, in errors or else in what led to them."""
        errors = re.findall(r"^([^\s:]+):(\d+):\d+: (?:fatal )?error", said, re.MULTILINE)
        all_lines = re.findall(r"^([^\s:]+):(\d+):\d+: ", said, re.MULTILINE)
        for named in (errors, all_lines):
            wrong = {s for path, line in named for s in self.switches
                     if path.endswith(s.mutant.path) and s.covers(self.texts[s.mutant.path], int(line))}
            if wrong:
                break
        else:
            raise RuntimeError(said[:3000])
        for switch in wrong:
            switch.form += 1
            self.settle(switch)
        paths = {switch.mutant.path for switch in wrong}
        for path in paths:
            self.write(path)
        return paths

    def kind_of(self, switch):
        if not switch.is_code:
            return "alone" if switch.mutant.path.endswith(SWITCHED) else "python"
        if switch.now():
            return "switch"
        return "alone" if self.with_mistake(switch, lambda: self.parses(switch.mutant.path)) else "does not build"

    def parses(self, path):
        target = self.direct.plan(path, self.programs)[0][:1]
        return bool(target) and self.compile(target[0], "-fsyntax-only")[0] == 0

    def with_mistake(self, switch, what):
        """Runs it while the file has the mistake and no switch."""
        path = self.folder / switch.mutant.path
        path.write_text(self.texts[switch.mutant.path])
        switch.mutant.apply(self.folder)
        try:
            return what()
        finally:
            self.write(switch.mutant.path)

    # Asking

    def record(self):
        """`met`: of each test that passes, its seconds and the numbers of the switches that it meets."""
        self.met = {}
        for name in self.tests.all():
            self.reached_file.write_bytes(bytes(weave.REACHED_BYTES))
            begin = time.time()
            code, said = self.tests.ask([name], 1200, TESSERA_REACHED=self.reached_file)
            seconds = time.time() - begin
            reached = [i for i, byte in enumerate(self.reached_file.read_bytes()) if byte]
            self.log(f"{name}: {seconds:.2f} s, {len(reached)} switches{'' if code == 0 else ', FAILS: ' + said}")
            if code == 0:
                self.met[name] = (round(seconds, 3), reached)

    def seconds_of(self, name):
        return self.met[name][0]

    def first_failure(self, names, **environment):
        """(the tests that failed, what they said, whether they did not end), or None."""
        for batch in processes(names, self.seconds_of):
            limit = 20 + 10 * sum(self.seconds_of(name) for name in batch)
            code, said = self.tests.ask(batch, limit, **environment)
            if code == 0:
                continue
            if code is None:
                return batch, "it did not end", True
            failed = re.findall(r"^\[  FAILED  \] ([^\s,]+)", said, re.MULTILINE)
            alone = [name for name in batch if name.partition(":")[2] in failed] or batch
            if not environment or self.tests.ask(alone, limit)[0] == 0:
                return alone, said, False
        return None

    def answer(self, switch, may_compile=True):
        """(verdict, by, said, timed out, how many tests met it), or None where that takes the compiler."""
        if switch.kind == "does not build":
            return switch.kind, "the compiler", "", False, 0
        meets = [name for name, (_, reached) in self.met.items() if switch.number in reached]
        if switch.kind == "switch" and meets:
            failure = self.first_failure(meets, TESSERA_MISTAKE=switch.number)
            if failure or not switch.in_constexpr:
                return self.verdict(failure, len(meets))
        if switch.kind != "python" and not may_compile:
            return None
        return self.with_mistake(switch, lambda: self.ask_alone(switch, len(meets)))

    def verdict(self, failure, meets):
        if failure is None:
            return "survived", None, "", False, meets
        return "noticed", failure[0][0], failure[1], failure[2], meets

    def ask_alone(self, switch, meets):
        names = [n for n in self.met if switch.kind != "python" or n.startswith("ctest:")]
        if switch.kind == "python":
            return self.verdict(self.first_failure(names), len(names))
        code, said, kept = self.direct.build_with(switch.mutant.path, self.programs)
        try:
            if code != 0:
                return "does not build", "the compiler", said, False, 0
            return self.verdict(self.first_failure(names), meets)
        finally:
            self.direct.put_back(kept)

    def of_count(self, count, done):
        """The first so many in drawn order that build, as far as is known."""
        def builds(switch):
            return done.get(switch.mutant.name, {"verdict": switch.kind})["verdict"] != "does not build"
        judged, chosen = 0, []
        for switch in self.switches:
            chosen.append(switch)
            judged += builds(switch)
            if judged == count:
                break
        return chosen

    # From one run to the next

    def save(self, path):
        state = {"met": self.met, "texts": self.texts,
                 "switches": [{"mutant": s.mutant.to_json(), "form": s.form, "kind": s.kind} for s in self.switches]}
        path.write_text(json.dumps(state))

    def load(self, path):
        state = json.loads(path.read_text())
        self.met, self.texts, self.switches = state["met"], state["texts"], []
        for number, known in enumerate(state["switches"]):
            mutant = Mutant(**known["mutant"])
            switch = Switch(number, mutant, self.texts[mutant.path])
            switch.form, switch.kind = known["form"], known["kind"]
            self.switches.append(switch)
