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


def proposals(tessera, folder, file):
    """What is said without arguments, and the calls proposed."""
    ran = subprocess.run([tessera, "check", str(file)], cwd=folder, capture_output=True, text=True,
                         errors="replace", check=False, timeout=300)
    calls = [line.strip() for line in ran.stderr.splitlines()
             if line.startswith("  tessera check ")]
    refused = len(re.findall(r"none came to its end", ran.stderr))
    if refused == 1 and not re.search(r"this call runs", ran.stderr, re.IGNORECASE):
        calls = []
    said = [line for line in ran.stderr.splitlines() if line.startswith("tessera check: ")]
    return (said or [ran.stderr.strip()[-200:]])[0], calls, refused


def ends(tessera, folder, call):
    """Whether a proposed call runs to its end: what it is found to do otherwise."""
    words = shlex.split(call)
    ran = subprocess.run([tessera, *words[1:], "--json", "-", "--threads", "1"], cwd=folder,
                         capture_output=True, text=True, errors="replace", check=False, timeout=300)
    if ran.returncode == 2:
        return "refused: " + ran.stderr[:200]
    runs = json.loads(ran.stdout)["runs"]
    return "" if all(run["finished"] for run in runs) else "does not end"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", type=pathlib.Path)
    parser.add_argument("--tessera", default="build/tessera")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", default="", help="files whose path holds this text")
    parser.add_argument("--after", type=pathlib.Path,
                        help="rows of an earlier run: files that did not compile are not tried again")
    options = parser.parse_args()
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
            if options.only not in f"{folder.name}/{file}":
                continue
            known = broken_files.get((folder.name.replace("__", "/"), str(file)))
            if known:
                rows.append(known)
                continue
            try:
                said, calls, refused = proposals(tessera, folder, file)
                broken = [why for why in (ends(tessera, folder, call) for call in calls) if why]
            except (subprocess.TimeoutExpired, ValueError) as error:
                said, calls, refused, broken = str(error)[:200], [], 0, []
            row = {"repository": folder.name.replace("__", "/"), "file": str(file),
                   "calls": len(calls), "none": refused, "broken": broken,
                   "compiles": "does not compile" not in said and "no kernel" not in said,
                   "said": said[:300]}
            rows.append(row)
            print(json.dumps(row), flush=True)
    with_kernels = [row for row in rows if row["compiles"]]
    running = [row for row in with_kernels if row["calls"] and not row["broken"]]
    print(f"{len(rows)} files; {len(with_kernels)} compile and have kernels; in {len(running)} of "
          f"them a proposed call runs; {sum(row['calls'] for row in rows)} calls in all, "
          f"{sum(len(row['broken']) for row in rows)} do not run; for "
          f"{sum(row['none'] for row in rows)} kernels none was found")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
