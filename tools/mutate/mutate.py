#!/usr/bin/env python3
"""Makes one-line mistakes in our code, one at a time, and asks whether the tests notice.

    tools/mutate/mutate.py draw [--seed 1]      draws list.json anew, but for what is marked as by hand
    tools/mutate/mutate.py run [-j 4] [--seconds 60] [--only REGEX] [--log mutants.jsonl] [--work /tmp/mutants]
                               [--from-checkout FOLDER [--tests-passed]]
    tools/mutate/mutate.py run --drawn SEED [--count 200] [--minutes 60] --from-checkout . [--tests-passed]
    tools/mutate/mutate.py report [--drawn SEED] [--log mutants.jsonl] [--out results/mutants.json]

run builds the targets that the list names in one copy of the repository, once, sees which of their
tests pass there, and copies that for each of -j workers; a worker then changes a line, builds what that
takes, runs the tests in shards, and puts the line back. Each answer is appended to the log at once, and what
the log or the results have is not run again, so a run may be cut off at any time, and report may be called
before all have run. It takes hours; it is no part of any other test. A mistake in a line that has changed since the
list was drawn is neither run nor counted.

With --drawn the mistakes are not those of the list: drawn.py draws them, by a seed of eight hex digits, until
so many have been judged; a mistake that does not build is none. All of them are compiled in as switches, once, in
the copy of a built checkout, and each is asked only of the tests that reach it (switches.py). The folder --work is
kept, and the same call goes on with it. Those that survive are shown by report; somebody writes into the results
which test notices one since ("noticed_since"), or why none can ("changes_nothing"), and report keeps that.

With --from-checkout the copy is of a checkout with its finished build folder, and a new one each time: where a
few mistakes are asked about, that spares the build of everything.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import threading
import time

import drawn
import mutants
import switches

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_CODE = 124  # of timeout(1)


def shell(words, folder, seconds):
    """The exit code, None for too long, and what was said: its first failure, or else its end."""
    try:
        done = subprocess.run(words, cwd=folder, timeout=seconds, capture_output=True, text=True,
                              errors="replace")
    except subprocess.TimeoutExpired:
        return None, ""
    said = done.stdout + done.stderr
    failure = re.search(r"\S+: Failure$", said, re.MULTILINE)
    return done.returncode, said[failure.start():][:600] if failure else said[-600:]


def place_of(folder):
    """The folder that a checkout was configured in: its build folder names files by it."""
    cache = (folder / "build/CMakeCache.txt").read_text()
    return pathlib.Path(re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.+)$", cache, re.MULTILINE)[1])


def in_place(folder, command):
    """The command with the folder mounted where it was configured."""
    place = place_of(folder)
    bind = f"mount --bind {folder} {place} && cd {place} && {command}"
    return ["unshare", "-m", "-p", "-f", "--kill-child", "bash", "-c", bind]


class Worker(threading.Thread):
    """One copy of the repository. WHY a mount of its own: CMake's build folder knows its place, so every
    copy is seen at the place of the first one. WHY a temporary folder of its own: tests name files after
    process numbers, which are the same in every worker."""

    def __init__(self, number, options, todo, answers):
        super().__init__(daemon=True)
        self.options, self.todo, self.answers = options, todo, answers
        self.first = options.work / "first"
        self.own = options.work / f"copy{number}"

    def inside(self, command):
        home = f"{self.own}.home"
        return in_place(self.own, f"export HOME={home} TMPDIR={home} && {command}")

    def make_copy(self):
        if not self.own.exists():
            subprocess.run(["cp", "-a", self.first, f"{self.own}.new"], check=True)
            pathlib.Path(f"{self.own}.new").rename(self.own)
        pathlib.Path(f"{self.own}.home").mkdir(exist_ok=True)

    def run(self):
        while True:
            try:
                mutant = self.todo.get_nowait()
            except queue.Empty:
                return
            self.answers.put(self.answer(mutant))

    def answer(self, mutant):
        begin = time.time()
        file = self.own / mutant.path
        text = mutant.apply(self.own)
        try:
            verdict, by, said, timed_out = self.try_it(mutant)
        finally:
            file.write_text(text)
        answer = mutant.to_json() | {"verdict": verdict, "by": by, "seconds": round(time.time() - begin)}
        answer |= {"timeout": True} if timed_out else {}
        return answer | ({"said": said} if verdict == "noticed" else {})

    def try_it(self, mutant):
        for test in mutant.tests:
            targets = room_alone(mutant.path) if self.options.room_alone else test
            build = f"cmake --build build --target {targets} -j{self.options.jobs_each}"
            code, said = shell(self.inside(build), self.own, self.options.build_seconds)
            if code != 0:
                return "does not build", "the compiler", said, False
            code, said = self.test(test, self.options.shards, mutant.filter)
            if code != 0:
                timed_out = code in (None, TIMEOUT_CODE)
                return "noticed", test, "it did not end" if timed_out else said, timed_out
        return "survived", None, "", False

    def test(self, test, shards, asked):
        if test.startswith("ctest:"):
            command = f"ctest --test-dir build --output-on-failure --stop-on-failure -j{shards} -R '^{test[6:]}$'"
            return shell(self.inside(f"timeout {self.options.seconds} {command}"), self.own, self.options.seconds + 30)
        # The first failure of any shard ends all of them. (`wait -n` would not do: it fails where a
        # shard has ended before it is called.)
        command = (f"export GTEST_TOTAL_SHARDS={shards} GTEST_BRIEF=1 GTEST_FAIL_FAST=1; "
                   f'export GTEST_FILTER="{asked}"; '
                   f"for i in $(seq 0 {shards - 1}); do (GTEST_SHARD_INDEX=$i build/{test} || kill $$) & done; "
                   f"wait")
        # Whoever is still running then hangs: the longest shard takes a fraction of this.
        seconds = self.options.seconds
        return shell(self.inside(f"timeout {seconds} bash -c '{command}'"), self.own, seconds + 30)


def room_alone(path):
    """What to build of the room of a source file: its library, and the program where its tests run that."""
    room = path.split("/")[1]
    return f"tessera_{room}_shared" + (" tessera" if room in ("check", "cli") else "")


def first_copy(options, targets):
    """The repository at HEAD, or the checkout that is to be copied, built."""
    first = options.work / "first"
    if options.from_checkout:
        if options.work.exists():
            sys.exit(f"--work {options.work} is there already: remove it, or name another folder")
        options.work.mkdir(parents=True)
        subprocess.run(["cp", "-a", options.from_checkout, first], check=True)
    elif not first.exists():
        options.work.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "-q", "--local", ROOT, first], check=True)
        if (ROOT / "build-images").exists():
            os.symlink((ROOT / "build-images").resolve(), first / "build-images")
    if not options.from_checkout and not (first / "build/CMakeCache.txt").exists():
        subprocess.run(["cmake", "--preset", "release"], cwd=first, check=True, stdout=subprocess.DEVNULL)
    build = f"cmake --build build --target {' '.join(targets)} tessera"
    subprocess.run(in_place(first, build), check=True)


def failing_tests(workers, chosen):
    """Those that fail without any mistake of ours and so can judge none, after saying so."""
    tests = sorted({test for mutant in chosen for test in mutant.tests})
    asked = {test: ":".join(sorted({m.filter for m in chosen if test in m.tests})) for test in tests}
    shards = max(1, (os.cpu_count() or 1) // len(tests))
    free = queue.Queue()

    def ask(test):
        worker = free.get()
        try:
            return worker.test(test, shards, asked[test])
        finally:
            free.put(worker)

    with concurrent.futures.ThreadPoolExecutor(len(workers)) as pool:
        for worker in workers:
            free.put(worker)
        answers = list(pool.map(ask, tests))
    for test, (code, said) in zip(tests, answers):
        if code != 0:
            print(f"{test} fails without any mistake of ours, so its mutants wait: "
                  f"{said or 'it did not end'}")
    return {test for test, (code, _) in zip(tests, answers) if code != 0}


def those_asked(options):
    if not options.drawn:
        return mutants.those_there(ROOT)
    state = options.work / switches.STATE
    if state.exists():  # of the sources that were copied
        return [mutants.Mutant(**one["mutant"]) for one in json.loads(state.read_text())["switches"]]
    return drawn.draw(ROOT, options.drawn, 17 * options.count // 10)


def known_answers(options):
    """By name: those of the results, and of the log, which is newer."""
    answers = json.loads(options.out.read_text())["mutants"] if options.out.exists() else []
    if options.log.exists():
        answers += [json.loads(line) for line in options.log.read_text().splitlines() if line.strip()]
    by_name = {}
    for one in answers:  # with reasons that somebody has written into the results
        old = by_name.get(one["name"], {})
        kept = {key: old[key] for key in ("changes_nothing", "noticed_since") if key in old}
        by_name[one["name"]] = kept | one
    return {m.name: m.to_json() | by_name[m.name] for m in those_asked(options)
            if m.name in by_name and m.is_that_of(by_name[m.name])}


def run_drawn(options):
    """In drawn order, until so many have been judged: first those that take no compiler."""
    worker = Worker("", options, None, None)
    worker.own, state = worker.first, options.work / switches.STATE
    if not state.exists():
        first_copy(options, switches.PROGRAMS + ["tessera_library"])
    pathlib.Path(f"{worker.own}.home").mkdir(exist_ok=True)
    asked = switches.Switches(worker.own, place_of(worker.own), worker.inside, shell, options.work)
    if state.exists():
        asked.load(state)
    else:
        asked.prepare(drawn.draw(worker.own, options.drawn, 17 * options.count // 10))  # a third does not build
        asked.record()
        asked.save(state)
    end = time.time() + 60 * options.minutes
    while time.time() < end:
        done = known_answers(options)
        left = [s for s in asked.of_count(options.count, done)
                if s.mutant.name not in done or re.search(options.only or "^$", s.mutant.name)]
        if not left:
            return
        answered = set()
        for may_compile, switch in itertools.product((False, True), left):
            if time.time() > end:
                return  # the same call goes on here
            begin = time.time()
            found = None if switch in answered else asked.answer(switch, may_compile)
            if found is None:
                continue
            answered.add(switch)
            verdict, by, said, timed_out, met = found
            answer = switch.mutant.to_json() | {"verdict": verdict, "by": by, "met": met,
                                                "seconds": round(time.time() - begin)}
            answer |= {"timeout": True} if timed_out else {}
            answer |= {"said": said} if verdict == "noticed" else {}
            with options.log.open("a") as log:
                log.write(json.dumps(answer) + "\n")
            print(f"{answer['name']}: {verdict} {by or ''} {answer['seconds']} s", flush=True)
        options.only = ""


def run(options):
    if options.drawn:
        return run_drawn(options)
    todo, answers = queue.Queue(), queue.Queue()
    done = known_answers(options)
    # A survivor is asked again: somebody may have written a test since.
    chosen = [m for m in those_asked(options) if re.search(options.only, m.name)
              and (m.name not in done or (options.only and done[m.name]["verdict"] == "survived"))]
    if not chosen:
        return
    workers = [Worker(i, options, todo, answers) for i in range(options.workers)]
    first_copy(options, sorted({test for m in chosen for test in m.tests if not test.startswith("ctest:")}))
    with concurrent.futures.ThreadPoolExecutor(len(workers)) as pool:
        list(pool.map(Worker.make_copy, workers))
    failing = set() if options.tests_passed else failing_tests(workers, chosen)
    chosen = [m for m in chosen if not failing & set(m.tests)]
    for mutant in chosen:
        todo.put(mutant)
    for worker in workers:
        worker.start()
    begin = time.time()
    for i in range(len(chosen)):
        answer = answers.get()
        with options.log.open("a") as log:
            log.write(json.dumps(answer) + "\n")
        print(f"{i + 1}/{len(chosen)} {answer['name']}: {answer['verdict']} {answer['by'] or ''}", flush=True)
        if time.time() - begin > 60 * options.minutes:
            break  # the same call goes on where this one ends


def verdict_of(answer):
    survived = answer["verdict"] == "survived" and answer.get("changes_nothing")
    return "changes nothing" if survived else answer["verdict"]


def report(options):
    answers = sorted(known_answers(options).values(), key=lambda one: one["name"])
    rooms = collections.defaultdict(collections.Counter)
    for one in answers:
        rooms[one["room"]][verdict_of(one)] += 1
    table = [{"room": room, **counts} for room, counts in rooms.items()]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    of = options.count if options.drawn else len(mutants.those_there(ROOT))
    seed = {"seed": options.drawn} if options.drawn else {}
    stored = [{key: value for key, value in one.items() if key != "said"} | {"verdict": verdict_of(one)}
              for one in answers]
    options.out.write_text(json.dumps(
        {"schema": "tessera.mutants/1", "commit": commit.strip(), **seed, "tried": len(answers), "of": of,
         "rooms": table, "mutants": stored}, indent=1) + "\n")
    judged = [one for one in answers if verdict_of(one) in ("noticed", "survived")]
    noticed = sum(one["verdict"] == "noticed" for one in judged)
    print(f"{len(answers)} of {of} tried: {noticed} of {len(judged)} noticed; "
          f"{len(answers) - len(judged)} did not build or change nothing; "
          f"{0 if options.drawn else len(mutants.read_list()) - of} are in lines that have changed since")
    for one in judged:
        if one["verdict"] == "survived":
            print(f"survived: {one['path']}\n  - {one['before'].strip()}\n  + {one['after'].strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["draw", "run", "report"])
    parser.add_argument("-j", dest="workers", type=int, default=2)
    parser.add_argument("--jobs-each", type=int, default=max(1, (os.cpu_count() or 2) // 4))
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=60, help="of a test program; more on busy cores")
    parser.add_argument("--build-seconds", type=int, default=540, help="of what one mistake takes")
    parser.add_argument("--room-alone", action="store_true",
                        help="build the library of the mistake's room, and not, say, the images that it patches")
    parser.add_argument("--only", default="")
    parser.add_argument("--drawn", help="the seed, eight hex digits")
    parser.add_argument("--count", type=int, default=200, help="drawn mistakes to be judged")
    parser.add_argument("--minutes", type=float, default=24 * 60, help="no further mistake after these")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=pathlib.Path, default=pathlib.Path("mutants.jsonl"))
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/mutants"))
    parser.add_argument("--from-checkout", type=pathlib.Path)
    parser.add_argument("--tests-passed", action="store_true", help="there, so they need not be asked first")
    parser.add_argument("--out", type=pathlib.Path, help="results/mutants.json, or mutants_drawn.json")
    options = parser.parse_args()
    options.out = options.out or ROOT / "results" / ("mutants_drawn.json" if options.drawn else "mutants.json")
    if options.what == "draw":
        drawn = [m.to_json() for m in mutants.draw(ROOT, options.seed, mutants.read_list())]
        mutants.LIST.write_text(json.dumps(drawn, indent=1) + "\n")
        return
    if options.what == "run" and not shutil.which("unshare"):
        sys.exit("run needs unshare and the right to mount (root)")
    {"run": run, "report": report}[options.what](options)


if __name__ == "__main__":
    main()
