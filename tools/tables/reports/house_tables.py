"""Lines of code and host times before and after operands, plans and types got one place each.

  house_lines   docs/reports/house-rework.md   lines by folder             results/house/lines.json
  house_times   docs/reports/house-rework.md   host time by part of a call results/house/host_times.json

Made by tests/house/count_lines.py and tests/house/time_hosts.py.
"""
import json
import math

from cells import NOTHING, table


def lines_section(path):
    if not path.exists():
        return NOTHING
    before, after = json.loads(path.read_text())["commits"]
    rows = []
    for room in ("src/gemm", "src/kernels"):
        folders = [name for name in sorted(before["lines"].keys() | after["lines"].keys())
                   if name == room or name.startswith(room + "/")]
        lines = [(name, before["lines"].get(name, 0), after["lines"].get(name, 0)) for name in folders]
        rows += [[f"`{name}`", str(old), str(new)] for name, old, new in lines]
        rows.append([f"**{room}**", *(f"**{sum(one[i] for one in lines)}**" for i in (1, 2))])
    head = ["folder", *(f"{one['date']}, `{one['commit'][:8]}`" for one in (before, after))]
    return table(head, rows) + "\n\nLines with code, without comments and blank lines."


def times_section(path):
    if not path.exists():
        return NOTHING
    file = json.loads(path.read_text())
    rows = []
    for part in dict.fromkeys(one["part"] for one in file["times"]):
        ratios = [one["after_us"] / one["before_us"] for one in file["times"] if one["part"] == part]
        times = [[one[key] for one in file["times"] if one["part"] == part] for key in ("before_us", "after_us")]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        rows.append([part, *(f"{min(one):.2f} to {max(one):.2f}" for one in times), f"{mean:.2f}"])
    problems = len({one["problem"] for one in file["times"]})
    return (table(["part", "before, us", "after, us", "ratio"], rows) +
            f"\n\nMedians of {problems} FP32 problems, each the least of {file['rounds']} rounds in turn, on a driver whose "
            f"launches do nothing; the ratio is the geometric mean of after over before. {file['cpu']}, commits "
            f"{file['before']} and {file['after']}.")


def sections(root):
    folder = root / "results/house"
    return {"house_lines": lines_section(folder / "lines.json"), "house_times": times_section(folder / "host_times.json")}
