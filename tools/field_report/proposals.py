#!/usr/bin/env python3
"""In how many files of public repositories the calls run that tessera check proposes by itself.

    tools/field_report/proposals.py CHECKOUTS [--tessera build/tessera] [--json FILE]

CHECKOUTS is a folder with one checkout a repository. Each .cu file is given to tessera check
without a kernel or arguments; every call that it proposes is run as it stands.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess


CALL = re.compile(r"^  \S*tessera check ")


def proposals(tessera, folder, file):
    """What is said without arguments: its first line, the calls proposed with the line above each, and for the
    kernels without one how the first call ended."""
    ran = subprocess.run([tessera, "check", str(file)], cwd=folder, capture_output=True, text=True,
                         errors="replace", check=False, timeout=300)
    lines = ran.stderr.splitlines()
    calls, above = [], ""
    for line in lines:
        if CALL.match(line) and "this call " in above.lower():
            calls.append((above, line.strip()))
        if line and not line.startswith("  "):
            above = line
    none = re.findall(r"tried, and none came to its end \(the first: (.*)\)\.$", ran.stderr, re.MULTILINE)
    others = re.findall(r"^For the other (?:(\d+) )?kernels?:", ran.stderr, re.MULTILINE)
    said = [line for line in lines if line.startswith("tessera check: ")]
    return (said or [ran.stderr.strip()[-200:]])[0], calls, none, sum(int(one or 1) for one in others)


def ends(tessera, folder, call):
    """Whether a proposed call runs to its end: what it is found to do otherwise."""
    words = shlex.split(call)
    ran = subprocess.run([tessera, *words[1:], "--seeds", "0", "--json", "-"], cwd=folder,
                         capture_output=True, text=True, errors="replace", check=False, timeout=300)
    if ran.returncode == 2:
        return "refused: " + ran.stderr[:200]
    result = json.loads(ran.stdout)
    if any(one["check"] == "out-of-bounds" for one in result["findings"]):
        return "out of bounds"
    return "" if all(run["finished"] for run in result["runs"]) else "does not end"


def kind_of(reason):
    """Why no call was found, in a few words."""
    for words, kind in (("null pointer", "follows a pointer in memory"), ("out-of-bounds", "out of bounds"),
                        ("bytes past", "out of bounds"), ("bytes before", "out of bounds"),
                        ("outside", "out of bounds"), ("misaligned", "misaligned"), ("too long", "takes too long"),
                        ("nothing is stored", "nothing is stored"), ("tensor map", "needs a tensor map"),
                        ("not implemented", "not implemented"), ("deadlock", "deadlock"),
                        ("assert", "an assertion fails")):
        if words in reason:
            return kind
    return "another fault"


def totals(rows):
    """Counts of a run, for results/ and for the page."""
    whole = [row for row in rows if row["compiles"]]
    calls = [call for row in whole for call in row["shown"]]
    reasons = [kind_of(reason) for row in whole for reason in row["none"]]
    return {"files": len(rows), "files_with_kernels": len(whole),
            "files_with_a_call": sum(1 for row in whole if row["shown"]),
            "calls": len(calls),
            "calls_of_the_programs_values": sum(1 for line in calls if "from " in line
                                                and " instead of " not in line and " tried as " not in line),
            "calls_halved": sum(1 for line in calls if " instead of " in line or " tried as " in line),
            "calls_of_usual_shapes": sum(1 for line in calls if "; a usual shape" in line),
            "calls_that_leave_their_arrays": sum(1 for line in calls if "outside its arrays" in line),
            "calls_that_end_in_a_fault": sum(1 for line in calls if "ends in a fault" in line),
            "calls_that_do_not_end": sum(len(row["broken"]) for row in whole),
            "kernels_without": len(reasons),
            "why_without": {kind: reasons.count(kind) for kind in sorted(set(reasons))},
            "kernels_not_asked_for": sum(row["others"] for row in whole)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", type=pathlib.Path)
    parser.add_argument("--tessera", default="build/tessera")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", default="", help="files whose path holds this text")
    parser.add_argument("--after", type=pathlib.Path,
                        help="rows of an earlier run: files that did not compile are not tried again")
    parser.add_argument("--part", default="0/1", help="1/2: the second half of the files, every other one")
    options = parser.parse_args()
    part, parts = (int(one) for one in options.part.split("/"))
    number = 0
    tessera = str(pathlib.Path(options.tessera).resolve())
    rows, broken_files = [], {}
    if options.after:
        broken_files = {(row["repository"], row["file"]): row
                        for row in json.loads(options.after.read_text()) if not row["compiles"]}
    for folder in sorted(path for path in options.checkouts.iterdir() if path.is_dir()):
        if folder.name.startswith("."):
            continue
        for path in sorted(folder.rglob("*.cu")):
            file = path.relative_to(folder)
            number += 1
            if number % parts != part:
                continue
            if options.only not in f"{folder.name}/{file}":
                continue
            known = broken_files.get((folder.name.replace("__", "/"), str(file)))
            if known:
                rows.append({"shown": [], "none": [], "others": 0, **known})
                continue
            try:
                said, calls, none, others = proposals(tessera, folder, file)
                broken = []
                for above, call in calls:
                    why = ends(tessera, folder, call)
                    told = "outside its arrays" in above or "ends in a fault" in above
                    if why and (why.startswith("refused") or not told):
                        broken.append(f"{why}: {call[:300]}")
            except (subprocess.TimeoutExpired, ValueError) as error:
                said, calls, none, others, broken = str(error)[:200], [], [], 0, []
            row = {"repository": folder.name.replace("__", "/"), "file": str(file),
                   "shown": [above for above, _ in calls], "none": none, "others": others, "broken": broken,
                   "compiles": "does not compile" not in said and "no kernel" not in said,
                   "said": said[:300]}
            rows.append(row)
            print(json.dumps(row), flush=True)
    print(json.dumps(totals(rows), indent=1))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
