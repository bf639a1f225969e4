"""What the tests noticed of mistakes made on purpose.

  mutants   any page   one row a room, then why the rest went unnoticed   results/mutants.json, by tools/mutate
"""
import collections
import json

from cells import NOTHING, table

VERDICTS = ("noticed", "survived", "changes nothing", "does not build")


def row(name, verdicts):
    judged = verdicts["noticed"] + verdicts["survived"]
    share = f"{100 * verdicts['noticed'] / judged:.0f} %" if judged else "-"
    return [name, *(str(verdicts[verdict]) for verdict in VERDICTS), share]


def change(mutant):
    return f"`{mutant['path']}`: `{mutant['before'].strip()}` for `{mutant['after'].strip()}`".replace("|", "\\|")


def sections(root):
    path = root / "results/mutants.json"
    if not path.exists():
        return {"mutants": NOTHING}
    stored = json.loads(path.read_text())
    rooms, rest, timeouts = collections.defaultdict(collections.Counter), [], 0
    for mutant in stored["mutants"]:
        rooms[mutant["room"]][mutant["verdict"]] += 1
        timeouts += mutant.get("timeout", False)
        if mutant["verdict"] == "survived":
            rest.append([change(mutant), "nothing notices it yet"])
        elif mutant["verdict"] == "changes nothing":
            rest.append([change(mutant), mutant["changes_nothing"]])
    every = sum(rooms.values(), collections.Counter())
    rows = [row(f"`{name}`", rooms[name]) for name in sorted(rooms)]
    body = [f"{stored['tried']} of {stored['of']} mistakes have been tried. Of those noticed, {timeouts} are known to "
            "have been noticed by a test that did not end in time.", "",
            table(["room", *VERDICTS, "share"], [*rows, row("all", every)])]
    if rest:
        body += ["", table(["written for", "why no test fails"], rest)]
    return {"mutants": "\n".join(body)}
