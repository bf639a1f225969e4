"""What the tests noticed of mistakes made on purpose.

  mutants         any page   one row a room, then why the rest went unnoticed   results/mutants.json, by tools/mutate
  mutants_drawn   any page   the same of mistakes drawn by a seed               results/mutants_drawn.json
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


def section(path, what):
    if not path.exists():
        return NOTHING
    stored = json.loads(path.read_text())
    rooms, rest, timeouts = collections.defaultdict(collections.Counter), [], 0
    for mutant in stored["mutants"]:
        rooms[mutant["room"]][mutant["verdict"]] += 1
        timeouts += mutant.get("timeout", False)
        if mutant["verdict"] == "survived":
            since = mutant.get("noticed_since")
            rest.append([change(mutant), f"`{since}` notices it since" if since else "nothing notices it yet"])
        elif mutant["verdict"] == "changes nothing":
            rest.append([change(mutant), mutant["changes_nothing"]])
    every = sum(rooms.values(), collections.Counter())
    rows = [row(f"`{name}`", rooms[name]) for name in sorted(rooms)]
    tests = f"{timeouts} are known to have been noticed by a test that did not end in time."
    body = [what(stored) + f" Of those noticed, {tests}", "",
            table(["room", *VERDICTS, "share"], [*rows, row("all", every)])]
    if rest:
        body += ["", table(["written for", "why no test fails"], rest)]
    return "\n".join(body)


def listed(stored):
    return f"{stored['tried']} of {stored['of']} mistakes have been tried."


def drawn(stored):
    verdicts = collections.Counter(mutant["verdict"] for mutant in stored["mutants"])
    noticed, survived = verdicts["noticed"], verdicts["survived"]
    later = sum("noticed_since" in mutant for mutant in stored["mutants"])
    judged = noticed + survived + verdicts["changes nothing"]
    text = (f"Seed `{stored['seed']}`: {judged} of {stored['of']} mistakes have been judged, in the order in which they were drawn; "
            f"{verdicts['changes nothing']} change nothing. Of the other {noticed + survived}, {noticed} were noticed at once, and {later} "
            f"have tests since: {100 * (noticed + later) / (noticed + survived):.0f} %.")
    if left := stored.get("left_out"):
        text += f" {left} more are not judged: they are {stored['left_out_why']}."
    return text


def sections(root):
    return {"mutants": section(root / "results/mutants.json", listed),
            "mutants_drawn": section(root / "results/mutants_drawn.json", drawn)}
