#!/usr/bin/env python3
"""Runs tessera check on kernels of public repositories and writes docs/reports/check-field-report.md, and what it counted
and timed into results/field_report.json.

    tools/field_report/report.py CHECKOUTS [--tessera build/tessera] [--out docs/reports/check-field-report.md]

CHECKOUTS is a folder with one checkout a repository, named OWNER__NAME; a file .revision in it, or
git, says which commit it is. calls.txt lists the kernels and what they are given, reasons.txt why a
finding is right or what else it is, changes.txt why a verdict is not what it was. Nothing of the repositories is copied.
"""
import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import time

import proposals

HERE = pathlib.Path(__file__).resolve().parent


class Call:
    def __init__(self, repo, file, options, line):
        kernel, shape, arguments = [part.strip() for part in line.split("|")]
        self.repo, self.file, self.options, self.kernel = repo, file, options, kernel
        self.shape = shape.split()
        self.arguments = arguments.split()

    def key(self):
        return f"{self.repo} {self.file} {self.kernel}"

    def words(self):
        words = [self.file, "--kernel", self.kernel, "--grid", self.shape[0], "--block", self.shape[1]]
        if len(self.shape) > 2:
            words += ["--shared", self.shape[2]]
        for option in self.options:
            words += ["--nvcc-arg", option]
        for argument in self.arguments:
            words += ["--set", argument[4:]] if argument.startswith("set:") else ["--arg", argument]
        return words


def read_calls(path):
    calls, repo, file, options = [], "", "", []
    for line in path.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("repo "):
            repo = line.split()[1]
        elif line.startswith("file "):
            file, *options = line.split()[1:]
        else:
            calls.append(Call(repo, file, options, line))
    return calls


def read_reasons(path):
    """REPO FILE KERNEL | CHECK | bug, undefined, harmless, call or note | why"""
    reasons = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("#") or not line.strip():
            continue
        key, check, kind, why = [part.strip() for part in line.split("|")]
        reasons[key, check] = (kind, why)
    return reasons


def revision(folder):
    stored = folder / ".revision"
    if stored.exists():
        return stored.read_text().strip()
    return subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True,
                          text=True, check=False).stdout.strip() or "unknown"


def run(call, folder, tessera):
    words = [str(tessera), "check", *call.words(), "--seconds", "20", "--threads", "1", "--json", "-"]
    begin = time.monotonic()
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="replace",
                         check=False)
    row = {"call": call, "code": ran.returncode, "seconds": time.monotonic() - begin}
    try:
        row["json"] = json.loads(ran.stdout)
        row["seconds"] = sum(one["host_seconds"] for one in row["json"]["runs"])
    except ValueError:
        said = [line for line in ran.stderr.splitlines() if line.startswith("tessera check: ")]
        row["message"] = [(said or ["nothing said"])[0].replace("tessera check: ", "")]
    return row


def verdict(row):
    if row["code"] == 0:
        left = row["json"]["never_written"]
        return "clean, but never written: " + "; ".join(left) if left else "clean"
    if row["code"] == 1:
        names = [one["check"] for one in row["json"]["findings"] if one["severity"] != "note"]
        return ", ".join(dict.fromkeys(names))
    return "not run"


def place_text(finding, call):
    lines = []
    for place in finding["places"]:
        name = pathlib.PurePath(place["source_file"]).name
        text = f"{name}:{place['source_line']}"
        if text not in lines:
            lines.append(text)
    return " and ".join(lines) or call.file


def findings_text(rows, reasons, kinds):
    text = ""
    for row in rows:
        if "json" not in row:
            continue
        call = row["call"]
        for check in dict.fromkeys(one["check"] for one in row["json"]["findings"]):
            finding = next(one for one in row["json"]["findings"] if one["check"] == check)
            is_note = finding["severity"] == "note"
            kind, why = reasons.get((call.key(), check), ("unjudged", "not judged yet"))
            if kind not in kinds or is_note != (kind == "note"):
                continue
            text += (f"- **{call.repo}**, `{call.kernel}` ({place_text(finding, call)}): "
                     f"{finding['severity']}, {check}, in {finding['runs']} of "
                     f"{len(row['json']['runs'])} runs. {why}\n")
    return text or "None.\n"


def never_written_text(rows, reasons):
    text = ""
    for row in rows:
        call, left = row["call"], row.get("json", {}).get("never_written", [])
        _, why = reasons.get((call.key(), "never-written"), ("unjudged", "Not judged yet."))
        if left:
            text += f"- **{call.repo}**, `{call.kernel}`: {'; '.join(left)}. {why}\n"
    return text or "None.\n"


def table(rows, folders):
    text = ""
    for repo in dict.fromkeys(row["call"].repo for row in rows):
        own = [row for row in rows if row["call"].repo == repo]
        text += f"\n### {repo}, {folders[repo][:12]}\n\n| kernel | file | launch | verdict |\n|---|---|---|---|\n"
        for row in own:
            call = row["call"]
            shown = verdict(row)
            if shown == "not run":
                shown += ": " + row["message"][0].replace("|", "/")[:160]
            text += f"| `{call.kernel}` | {call.file} | {' x '.join(call.shape[:2])} | {shown} |\n"
    return text


def sgemm_seconds(tessera):
    """Processor time of all that check does with a plain product of 512, its PTX compiled before."""
    arrays = [f"{name}=f32[512,512]:uniform" for name in "abc"]
    values = ["m=i32:512", "n=i32:512", "k=i32:512", "alpha=f32:1", *arrays[:2], "beta=f32:0.5"]
    words = [str(tessera), "check", str(HERE / "sgemm.cu"), "--threads", "1", "--grid", "32,32",
             "--block", "16,16"]
    for value in [*values, arrays[2]]:
        words += ["--arg", value]
    for _ in range(2):
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, capture_output=True, check=True)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime


def proposals_of(paths):
    """What proposals.py counted, in one run or in parts."""
    return proposals.totals([row for path in paths for row in json.loads(path.read_text())])


def proposals_before(path):
    """What an earlier report counted, with the program that it was counted by."""
    before = json.loads(path.read_text()) if path.exists() else {}
    counts = before.get("proposals")
    return {"program": before["program"], **counts} if counts else None


def proposals_text(counts):
    if not counts:
        return ""
    earlier = f" Counted by {counts['program']}." if "program" in counts else ""
    why = ", ".join(f"{kind} {number}" for kind, number in
                    sorted(counts["why_without"].items(), key=lambda one: -one[1]))
    return f"""
## Calls that check proposes by itself

`tools/field_report/proposals.py` gave `check` each of the {counts["files"]} .cu files of these repositories without a kernel or
arguments. {counts["files_with_kernels"]} compile as they are and have kernels; in {counts["files_with_a_call"]} of them it proposes calls, {counts["calls"]} in
all (`results/field_report.json`). {counts["calls_of_the_programs_values"]} are of a launch with the program's own values, in {counts["calls_halved"]} something is
halved, and {counts["calls_of_usual_shapes"]} have usual shapes, because no launch is read. In {counts["calls_that_leave_their_arrays"]} the kernel leaves the arrays that the
program allocates. {counts["calls_that_do_not_end"]} did not come to their end when they were run as they are shown. For {counts["kernels_without"]} kernels none was
found, by how the first call ended: {why}.
{counts["kernels_not_asked_for"]} kernels of files with many were not asked for: where there are more than 8, or it takes long, `check` only counts the others.{earlier}
"""


def totals(rows, folders, tessera, sgemm):
    """What the page begins with."""
    ran = [row["seconds"] for row in rows if row["code"] in (0, 1)]
    version = subprocess.run([str(tessera), "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return {"program": version, "repositories": folders, "kernels": len(rows),
            **{name: sum(1 for row in rows if row["code"] == code)
               for name, code in (("clean", 0), ("with_findings", 1), ("not_run", 2))},
            "seconds": {"median": statistics.median(ran), "longest": max(ran), "sgemm_512": sgemm}}


def report(rows, folders, reasons, total):
    seconds = total["seconds"]
    head = f"""# check on kernels of the world

`tools/field_report/report.py` writes this page: {len(rows)} kernels of {len(folders)} public repositories, run under all
checks with the arguments of `tools/field_report/calls.txt`. {total["clean"]} are clean, {total["with_findings"]} have findings,
{total["not_run"]} did not run. The median kernel takes {1000 * seconds["median"]:.1f} ms for all of its runs, without
nvcc, on one core; the longest takes {seconds["longest"]:.1f} s. A verdict holds for the arguments of that call. The plain loop of a
512 x 512 x 512 SGEMM ([sgemm.cu](../../tools/field_report/sgemm.cu)) takes {seconds["sgemm_512"]:.1f} s of one core in all: three
runs, and the one that records stores (`results/field_report.json`). Times of kernels are by the clock, whatever else the machine does.

## Bugs in published code

"""
    text = head + findings_text(rows, reasons, {"bug"})
    text += "\n## Right on the hardware of its time, undefined by the programming model\n\n"
    text += findings_text(rows, reasons, {"undefined"})
    text += "\n## Due to the call or to what the program does around it, or harmless\n\n"
    text += findings_text(rows, reasons, {"call", "harmless"})
    text += "\n## Notes\n\nThey change no verdict; these were looked at.\n\n"
    text += findings_text(rows, reasons, {"note"})
    text += "\n## Never written\n\nA clean verdict says which elements of an array keep what they had.\n\n"
    text += never_written_text(rows, reasons)
    changes = [line for line in (HERE / "changes.txt").read_text().splitlines() if line[:1] != "#"]
    text += "\n## Verdicts that have changed\n\n" + "".join(f"- {line}\n" for line in changes)
    unjudged = findings_text(rows, reasons, {"unjudged"})
    if unjudged != "None.\n":
        text += "\n## Not judged yet\n\n" + unjudged
    return text + proposals_text(total.get("proposals")) + "\n## All kernels\n" + table(rows, folders)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", type=pathlib.Path)
    parser.add_argument("--tessera", type=pathlib.Path, default=HERE.parents[1] / "build/tessera")
    parser.add_argument("--out", type=pathlib.Path, default=HERE.parents[1] / "docs/reports/check-field-report.md")
    parser.add_argument("--results", type=pathlib.Path, default=HERE.parents[1] / "results/field_report.json")
    parser.add_argument("--only", default="", help="calls whose repository, file and kernel hold this text")
    parser.add_argument("--proposals", type=pathlib.Path, nargs="+", default=[],
                        help="what proposals.py --json wrote, in one part or several; without: the counts before")
    options = parser.parse_args()
    calls = [one for one in read_calls(HERE / "calls.txt") if options.only in one.key()]
    folders, rows = {}, []
    for call in calls:
        folder = options.checkouts.resolve() / call.repo.replace("/", "__")
        folders.setdefault(call.repo, revision(folder))
        rows.append(run(call, folder, options.tessera.resolve()))
        print(f"{call.key()}: {verdict(rows[-1])} {rows[-1].get('message', [''])[0][:200]}", flush=True)
    tessera = options.tessera.resolve()
    total = totals(rows, folders, tessera, sgemm_seconds(tessera))
    counts = proposals_of(options.proposals) if options.proposals else proposals_before(options.results)
    if counts:
        total["proposals"] = counts
    options.results.write_text(json.dumps(total, indent=1) + "\n")
    options.out.write_text(report(rows, folders, read_reasons(HERE / "reasons.txt"), total))


if __name__ == "__main__":
    main()
