"""Lines of code, speed and host times before and after operands, plans and types got one place each.

  house_lines   docs/reports/house-rework.md   lines by folder             results/house/lines.json
  house_speed   docs/reports/house-rework.md   speed by type               results/tune/*_two_builds.json
  house_times   docs/reports/house-rework.md   host time by part of a call results/house/host_times.json

Made by tests/house/count_lines.py, tools/tune/two_builds.py and tests/house/time_hosts.py.
"""
import json

from cells import NOTHING, table
from drawn_tables import geometric_mean

LEAST = 0.98  # a product is slower if it is below this in every round


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


def ratios_of(cell):
    """Speed of the new build over that of the old one, by round; None in a round that one of them did not time."""
    return [old / new if old and new else None for old, new in zip(cell["old_ms"], cell["new_ms"])]


def speed_row(name, cells):
    best = [(max(ratios_of(cell)), cell) for cell in cells]
    lowest, cell = min(best, key=lambda one: one[0])
    return [name, str(len(cells)), f"{geometric_mean([one for each in cells for one in ratios_of(each)]):.3f}",
            str(sum(ratio < LEAST for ratio, _ in best)),
            f"{lowest:.3f}, {cell['type'].upper()} {cell['size']} {cell['layout']}"]


def speed_of_card(file):
    whole = [cell for cell in file["cells"] if None not in ratios_of(cell)]
    if not whole:
        return NOTHING
    types = dict.fromkeys(cell["type"] for cell in whole)
    rows = [speed_row(kind.upper(), [cell for cell in whole if cell["type"] == kind]) for kind in types]
    missing = len(file["cells"]) - len(whole)
    rounds = len(whole[0]["old_ms"])
    return (table(["type", "products", "speed ratio", f"below {LEAST}", "lowest"], rows + [speed_row("all", whole)]) +
            f"\n\nSpeed of commit {file['new_commit'][:8]} over that of {file['old_commit'][:8]}: each plans its "
            f"own best kernel for squares in all layouts, in turn, {rounds} rounds; the ratio is a geometric mean over "
            "products and rounds. "
            f"*Below* and *lowest* take the better round of a product. "
            + (f"{missing} products were not timed by both in every round. " if missing else "") +
            ", ".join(filter(None, (file["gpu"], file["vendor"]))) + ".")


def speed_section(folder):
    files = [json.loads(path.read_text()) for path in sorted(folder.glob("*_two_builds.json"))]
    return "\n\n".join(speed_of_card(file) for file in files) or NOTHING


def times_section(path):
    if not path.exists():
        return NOTHING
    file = json.loads(path.read_text())
    rows = []
    for part in dict.fromkeys(one["part"] for one in file["times"]):
        ratios = [one["after_us"] / one["before_us"] for one in file["times"] if one["part"] == part]
        times = [[one[key] for one in file["times"] if one["part"] == part] for key in ("before_us", "after_us")]
        rows.append([part, *(f"{min(one):.2f} to {max(one):.2f}" for one in times), f"{geometric_mean(ratios):.2f}"])
    problems = len({one["problem"] for one in file["times"]})
    return (table(["part", "before, us", "after, us", "ratio"], rows) +
            f"\n\nMedians of {problems} FP32 problems, each the least of {file['rounds']} rounds in turn, on a driver "
            f"whose launches do nothing; the ratio is the geometric mean of after over before. {file['cpu']}, commits "
            f"{file['before']} and {file['after']}.")


def sections(root):
    folder = root / "results/house"
    return {"house_lines": lines_section(folder / "lines.json"), "house_speed": speed_section(root / "results/tune"),
            "house_times": times_section(folder / "host_times.json")}
