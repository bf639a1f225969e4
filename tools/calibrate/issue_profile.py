#!/usr/bin/env python3
"""Says where the issue slots of a kernel's inner loop go, from a profile and the machine code.

Two warps a sub-core whose loop is nearly all FFMAs leave few slots unused, and no counter says
whose they are. The profiler's samples do: "stall_dispatch" is a warp that was chosen and could not
start, a bubble of the register ports. Laid over the control fields of the same code, they say how
many bubbles follow an FFMA with two fresh reads in one bank (a crowded one).

  ncu --section SourceCounters --section WarpStateStats -k regex:ak_bn -o profile \\
      build/tessera bench --device cuda --kernel 15 -m 4096 --layout NT            (on a GPU)
  ncu --import profile.ncu-rep --page source --csv > profile.csv
  build/tessera sass 15 --entry am_bn_tma --listing --json listing.json
  tools/calibrate/issue_profile.py profile.csv listing.json --name 'rung 15' --json results/calibration/h200_fp32_profile.json

The listing must be of the code that ran (`tessera sass FILE` takes a cubin). Into an existing file
the profile is added, or takes the place of the one with its name. Python 3, standard library only.
"""
import argparse
import csv
import json
import re
import sys
from pathlib import Path

SCHEMA = "tessera.issue_profile/1"
BEHIND = 5          # instructions from a crowded FFMA to the bubble that it may cause, seen on an H200
OFTEN = 0.9         # of the largest count: those instructions are the loop
WORTH_A_ROW = 0.25  # bubbles an instruction is listed from,
LARGE = 0.5         # and counts as one from
ALL_SAMPLES = re.compile(r"stall_\w+$")


def sampled(path):
    """{kernel: its rows, in order of address} of what ncu --page source --csv printed."""
    kernels, name, block = {}, None, []

    def keep():
        if name and block:
            kernels.setdefault(name, list(csv.DictReader(block)))

    for line in path.read_text().splitlines():
        if line.startswith('"Kernel Name"'):
            keep()
            name, block = next(csv.reader([line]))[1], []
        elif line.startswith('"'):
            block.append(line)
    keep()
    if not kernels:
        sys.exit(f"{path}: no kernel in it; wanted: ncu --page source --csv")
    return kernels


def pair(profile, listing):
    """(name, samples, instructions) of the one kernel that both files hold."""
    both = [(k["kernel"], profile[k["kernel"]], k["instructions"])
            for k in listing["kernels"] if k["kernel"] in profile and "instructions" in k]
    if len(both) != 1:
        sys.exit(f"{len(both)} kernels stand in both files, wanted one: profile "
                 f"{', '.join(profile)}; listing {', '.join(k['kernel'] for k in listing['kernels'])}"
                 " (made with --listing?)")
    return both[0]


def loop_of(samples, instructions):
    """The instructions that ran most often: listing and stalls in one row each."""
    first = int(samples[0]["Address"], 16)
    by_offset = {i["offset"]: i for i in instructions}
    most = max(int(s["Instructions Executed"]) for s in samples)
    rows = []
    for sample in samples:
        if int(sample["Instructions Executed"]) < OFTEN * most:
            continue
        instruction = by_offset[int(sample["Address"], 16) - first]
        opcode = instruction["text"].split()[0]
        if opcode not in sample["Source"]:
            sys.exit(f"at {instruction['offset']:#x} the listing has {opcode}, the profile "
                     f"{sample['Source'].strip()}: not the same code")
        stalls = {k.removeprefix("stall_"): int(v) for k, v in sample.items()
                  if k and ALL_SAMPLES.match(k)}
        rows.append({**instruction, "stalls": stalls})
    return rows


def fresh_reads(instruction, kept):
    """Registers that an FFMA reads from its even and its odd bank; `kept` holds reuse entries."""
    fresh = [set(), set()]
    operands = instruction["text"].split(",")[1:]
    for slot, operand in enumerate(operands):
        found = re.search(r"\bR(\d+)", operand)
        if not found:
            continue
        register = int(found[1])
        bank = register % 2
        if kept.get((bank, slot)) != register:
            fresh[bank].add(register)
        if instruction["reuse"] >> slot & 1 and not instruction["yield"]:
            kept[bank, slot] = register
        else:
            kept.pop((bank, slot), None)
    return fresh


def crowded_banks(loop):
    """For each instruction the bank of which it reads two fresh registers or more; else None."""
    kept = {}
    for _ in range(2):  # the second time round with what the first one left
        banks = []
        for instruction in loop:
            crowded = None
            if instruction["text"].startswith("FFMA"):
                fresh = fresh_reads(instruction, kept)
                crowded = next((b for b in (0, 1) if len(fresh[b]) > 1), None)
            banks.append(crowded)
    return banks


def profile_of(name, kernel, about, warps, loop):
    issues = sum(row["stalls"]["selected"] for row in loop) / len(loop)
    samples = sum(sum(row["stalls"].values()) for row in loop)
    bubbles = [row["stalls"]["dispatch"] / issues for row in loop]
    behind = [bubbles[(i + BEHIND) % len(loop)] for i in range(len(loop))]
    banks = crowded_banks(loop)
    reasons = {reason: sum(row["stalls"][reason] for row in loop) for reason in loop[0]["stalls"]}
    crowded = {}
    for bank, word in enumerate(("even", "odd")):
        costs = [cost for cost, b in zip(behind, banks) if b == bank]
        crowded[word] = {"ffma": len(costs), "bubbles_behind": round(sum(costs), 2)}
    return {
        "name": name, "kernel": kernel, "about": about, "warps": warps,
        "instructions": len(loop), "ffma": sum(r["text"].startswith("FFMA") for r in loop),
        "samples": samples,
        # A sample looks at one warp: with `warps` of them that many times its share of the slots.
        "issued_slots": round(warps * reasons["selected"] / samples, 4),
        "dispatch_slots": round(warps * reasons["dispatch"] / samples, 4),
        "stalls": {r: round(n / samples, 4) for r, n in reasons.items() if n},
        "bubbles": round(sum(bubbles), 2), "crowded": crowded,
        "large": {"all": sum(b >= LARGE for b in bubbles),
                  "behind_crowded": sum(b >= LARGE for b, bank in zip(behind, banks)
                                        if bank is not None)},
        "rows": [{"offset": row["offset"], "text": row["text"], "bubbles": round(b, 2),
                  "behind_crowded": banks[i - BEHIND] is not None}
                 for i, (row, b) in enumerate(zip(loop, bubbles)) if b >= WORTH_A_ROW]}


def text_of(p):
    behind = sum(c["bubbles_behind"] for c in p["crowded"].values())
    lines = [f"{p['name']}: loop of {p['instructions']} instructions, {p['ffma']} FFMA; "
             f"{p['warps']} warps a sub-core, {p['samples']} samples",
             f"issue slots used: {100 * p['issued_slots']:.1f} %; lost at dispatch: "
             f"{100 * p['dispatch_slots']:.1f} %, {p['bubbles']:.1f} bubbles per iteration",
             f"{BEHIND} behind a crowded FFMA: {behind:.1f}, elsewhere {p['bubbles'] - behind:.1f}; of half "
             f"a cycle and more: {p['large']['behind_crowded']} of {p['large']['all']}"]
    lines += [f"  crowded in the {bank} bank: {c['ffma']} FFMAs, {c['bubbles_behind']:.1f} bubbles"
              for bank, c in p["crowded"].items()]
    lines.append("warps' time: " + ", ".join(f"{r} {100 * share:.1f} %" for r, share in sorted(
        p["stalls"].items(), key=lambda item: -item[1])))
    return "\n".join(lines)


def keep_in(path, profile):
    file = json.loads(path.read_text()) if path.exists() else {"schema": SCHEMA, "profiles": []}
    if file.get("schema") != SCHEMA:
        sys.exit(f"{path}: schema is {file.get('schema')}, but this tool writes {SCHEMA}")
    names = [p["name"] for p in file["profiles"]]
    if profile["name"] in names:
        file["profiles"][names.index(profile["name"])] = profile
    else:
        file["profiles"].append(profile)
    path.write_text(json.dumps(file, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile", type=Path, help="what ncu --page source --csv printed")
    parser.add_argument("listing", type=Path, help="what tessera sass --listing --json wrote")
    parser.add_argument("--warps", type=int, default=2, help="warps a sub-core in the loop")
    parser.add_argument("--name", help="of the profile (default: the kernel's)")
    parser.add_argument("--about", default="", help="GPU, driver, problem: kept with the profile")
    parser.add_argument("--json", type=Path, help="file to add the profile to")
    options = parser.parse_args()
    kernel, samples, instructions = pair(sampled(options.profile),
                                         json.loads(options.listing.read_text()))
    profile = profile_of(options.name or kernel, kernel, options.about, options.warps,
                         loop_of(samples, instructions))
    print(text_of(profile))
    if options.json:
        keep_in(options.json, profile)


if __name__ == "__main__":
    main()
