"""Files that `tessera bench --json` wrote: which runs a table may show, and what it says of them."""
import re
import sys

DEFAULT_ROUNDS = 5


def commits_of(file):
    """The commits that its runs are of; None for runs from before records had one."""
    return {run.get("commit") for run in file["runs"]}


def require_one_commit(file, path):
    """A table of several commits would compare figures of different code as if it were one."""
    commits = commits_of(file)
    if len(commits) > 1:
        names = ", ".join(sorted(commit or "not recorded" for commit in commits))
        sys.exit(f"{path}: its runs are of several commits ({names}), but must be of one")


def is_ours(run):
    """This build's code in as much workspace as it likes, of operands as they are: what tables show as our
    figure. The other runs of a file are companions, which the first ones tell of."""
    return run.get("build", "this") == "this" and run.get("workspace_limit") is None and not run.get("packed")


def rounds_of(file):
    """In how many rounds the candidates took turns: as the runs say or, in old files, the command."""
    said = {run["rounds"] for run in file["runs"] if run.get("rounds")}
    if not said:
        given = re.findall(r"--rounds (\d+)", file["environment"].get("command") or "")
        said = {int((given or [DEFAULT_ROUNDS])[0])}
    return said


def code_and_rounds(file):
    """commit 1a2b3c4d5e6f, 5 rounds"""
    commit = next(iter(commits_of(file)), None)
    code = f"commit {commit}" if commit else "commit not recorded"
    rounds = rounds_of(file)
    words = " to ".join(str(n) for n in sorted({min(rounds), max(rounds)}))
    return f"{code}, {words} round{'' if rounds == {1} else 's'}"


def described(files):
    """`a.json`, `b.json` (commit 1a2b3c4d5e6f, 5 rounds); `c.json` (commit not recorded, 1 round)"""
    groups = {}
    for file in files:
        groups.setdefault(code_and_rounds(file), []).append(f"`{file['name']}`")
    return "; ".join(f"{', '.join(names)} ({words})" for words, names in groups.items())


def megabytes(count):
    """As MiB, whole ones bare: 64 MiB, 33.4 MiB."""
    return f"{count / 2**20:.1f} MiB".replace(".0 MiB", " MiB")
