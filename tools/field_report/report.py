#!/usr/bin/env python3
"""Runs tessera check on kernels of public repositories and writes docs/check-field-report.md.

    tools/field_report/report.py CHECKOUTS [--tessera build/tessera] [--out docs/check-field-report.md]

CHECKOUTS is a folder with one checkout a repository, named OWNER__NAME; a file .revision in it, or
git, says which commit it is. calls.txt lists the kernels and what they are given, reasons.txt why a
finding is right or what else it is. Nothing of the repositories is copied.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import time

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
    """REPO FILE KERNEL | CHECK | bug, undefined, call or note | why"""
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
        return "clean"
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
        if row["code"] != 1:
            continue
        call = row["call"]
        for check in dict.fromkeys(one["check"] for one in row["json"]["findings"]):
            finding = next(one for one in row["json"]["findings"] if one["check"] == check)
            kind, why = reasons.get((call.key(), check), ("unjudged", "not judged yet"))
            if kind not in kinds or finding["severity"] == "note":
                continue
            text += (f"- **{call.repo}**, `{call.kernel}` ({place_text(finding, call)}): "
                     f"{finding['severity']}, {check}, in {finding['runs']} of "
                     f"{len(row['json']['runs'])} runs. {why}\n")
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


def report(rows, folders, reasons):
    count = {name: sum(1 for row in rows if row["code"] == code)
             for name, code in (("clean", 0), ("found", 1), ("refused", 2))}
    ran = [row["seconds"] for row in rows if row["code"] in (0, 1)]
    head = f"""# check on kernels of the world

`tools/field_report/report.py` writes this page: {len(rows)} kernels of {len(folders)} public repositories, run under all
checks with the arguments of `tools/field_report/calls.txt`. {count["clean"]} are clean, {count["found"]} have findings,
{count["refused"]} did not run. The median kernel takes {statistics.median(ran):.2f} s for all of its runs, without nvcc,
on one core; the longest takes {max(ran):.1f} s. A verdict holds for the arguments of that call.

## Bugs in published code

"""
    text = head + findings_text(rows, reasons, {"bug"})
    text += "\n## Right on the hardware of its time, undefined by the programming model\n\n"
    text += findings_text(rows, reasons, {"undefined"})
    text += "\n## Due to the call or to what the program does around it, or harmless\n\n"
    text += findings_text(rows, reasons, {"call", "harmless"})
    unjudged = findings_text(rows, reasons, {"unjudged"})
    if unjudged != "None.\n":
        text += "\n## Not judged yet\n\n" + unjudged
    return text + "\n## All kernels\n" + table(rows, folders)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", type=pathlib.Path)
    parser.add_argument("--tessera", type=pathlib.Path, default=HERE.parents[1] / "build/tessera")
    parser.add_argument("--out", type=pathlib.Path, default=HERE.parents[1] / "docs/check-field-report.md")
    parser.add_argument("--only", default="", help="calls whose repository, file and kernel hold this text")
    options = parser.parse_args()
    calls = [one for one in read_calls(HERE / "calls.txt") if options.only in one.key()]
    folders, rows = {}, []
    for call in calls:
        folder = options.checkouts.resolve() / call.repo.replace("/", "__")
        folders.setdefault(call.repo, revision(folder))
        rows.append(run(call, folder, options.tessera.resolve()))
        print(f"{call.key()}: {verdict(rows[-1])} {rows[-1].get('message', [''])[0][:200]}", flush=True)
    options.out.write_text(report(rows, folders, read_reasons(HERE / "reasons.txt")))


if __name__ == "__main__":
    main()
