"""Times a program's calls without an overlay and with one, in turn, and stores them beside what tessera tune said.

before_and_after.py OWN_CALLS OVERLAY TUNE.json --out results/tune/CARD_own_calls.json [--rounds 4]

OWN_CALLS is tools/tune/own_calls.c, compiled; OVERLAY and TUNE.json are of

  own_calls calls.log
  TESSERA_TUNING=OVERLAY build/tessera tune --from calls.log --json TUNE.json
"""
import argparse
import json
import os
import subprocess


def times_of(program, tuning):
    """Microseconds by name, in the order of the program's calls."""
    printed = subprocess.run([program], env={**os.environ, "TESSERA_TUNING": tuning}, check=True, capture_output=True,
                             text=True).stdout
    return [(name, float(us)) for name, us in (line.split("\t") for line in printed.splitlines())]


def joined(tune, before, after):
    """The calls of both must come in the same order: that of the program."""
    calls = []
    for i, call in enumerate(tune["calls"]):
        plans = [{"plan": plan["plan"], "us": round(1e3 * plan["time_ms"]["median"], 3)} for plan in call["plans"]
                 if "time_ms" in plan]
        calls.append({"name": before[0][i][0], "call": call["call"], "by_model": call["plans"][0]["plan"],
                      "taken": call.get("taken", ""), "reason": call["reason"], "plans": plans,
                      "before_us": [one[i][1] for one in before], "after_us": [one[i][1] for one in after]})
    return {"schema": "tessera.own_calls/1", **{name: tune[name] for name in ("gpu", "driver", "library")}, "calls": calls}


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "overlay", "tune"):
        parser.add_argument(name)
    parser.add_argument("--out", required=True)
    parser.add_argument("--rounds", type=int, default=4)
    given = parser.parse_args()
    before, after = [], []
    for _ in range(given.rounds):
        before.append(times_of(given.program, "off"))
        after.append(times_of(given.program, given.overlay))
    with open(given.tune) as file:
        tune = json.load(file)
    with open(given.out, "w") as file:
        json.dump(joined(tune, before, after), file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
