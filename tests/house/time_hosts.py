#!/usr/bin/env python3
"""Times what a call costs the host in two builds, in turn, on the pretended driver of each.

    tests/house/time_hosts.py BEFORE AFTER [ROUNDS] > results/house/host_times.json

BEFORE and AFTER are build folders; each has host_time and the images of its FP32 kernels.
"""
import json
import pathlib
import re
import subprocess
import sys

CALLS = "1500"
PROBLEM = re.compile(r"(\d+ x \d+ x \d+ \w\w): ")
TIMES = re.compile(r"  (\S.*?)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)$")


def medians_of(text):
    """(problem, part) -> median microseconds, from what host_time prints."""
    medians = {}
    problem = None
    for line in text.splitlines():
        if found := PROBLEM.match(line):
            problem = found[1]
        elif problem and (found := TIMES.match(line)):
            medians[problem, found[1]] = max(float(found[3]), 0.005)  # printed with two decimals
    return medians


def joined(rounds):
    """The least median over all rounds: other programs of the machine only add time. rounds: (before, after)."""
    keys = [key for key in rounds[0][0] if all(key in one for pair in rounds for one in pair)]
    return [{"problem": problem, "part": part,
             "before_us": min(before[problem, part] for before, _ in rounds),
             "after_us": min(after[problem, part] for _, after in rounds)} for problem, part in keys]


def commit_of(folder):
    return (pathlib.Path(folder) / "commit/commit.txt").read_text().strip()


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    folders = sys.argv[1:3]
    rounds = []
    for number in range(int(sys.argv[3]) if len(sys.argv) > 3 else 5):
        order = folders if number % 2 == 0 else folders[::-1]
        printed = {folder: subprocess.run([f"{folder}/host_time", CALLS], check=True, capture_output=True, text=True)
                   for folder in order}
        times = {folder: medians_of(run.stdout) for folder, run in printed.items()}
        rounds.append([times[folder] for folder in folders])
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    commits = {"before": commit_of(folders[0]), "after": commit_of(folders[1])}
    print(json.dumps({"schema": "tessera.host_times/1", "cpu": cpu[1] if cpu else "", "rounds": len(rounds),
                      **commits, "times": joined(rounds)}, indent=1))


if __name__ == "__main__":
    main()
