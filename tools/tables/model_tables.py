"""Tables of docs/model.md: the parameters as src/arch/costs.h states them, and predicted beside
measured times from what tools/calibrate/fit_model.cpp wrote. Used by tools/tables/update_tables.py."""
import json
import re

import renamed

FIT, CHECK, BLIND = "h200_model_fit.json", "h200_model_check.json", "h200_blind.json"
NOTHING = "*(no results)*"


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def parameters(root):
    """Name, value and source of each number in struct Costs, from its own comments."""
    path = root / "src/arch/costs.h"
    if not path.exists():
        return NOTHING
    text = path.read_text()
    body = re.search(r"struct Costs \{\n(.*?)\n\};", text, re.S)[1]
    body = body.split("bool is_measured")[0].rstrip()
    rows, above, said_above = [], [], False
    for line in body.splitlines():
        line = line.strip()
        number = re.match(r"(?:double|std::array<double, 3>) (\w+) = ([^;]+);(?:\s*//\s*(.*))?$", line)
        if number:
            name, value, beside = number.groups()
            rows.append([f"`{name}`", value.strip("{}"), beside or " ".join(above)])
            said_above = True
        elif line.startswith("//"):
            above = ([] if said_above else above) + [line.removeprefix("//").strip()]
            said_above = False
    return table(["parameter", "H200", "what it is, and its source"], rows)


def milliseconds(value):
    return f"{value:.4g}"


def predictions(root, file):
    """One row a kernel and size, then the median and the largest error."""
    path = root / "results/calibration" / file
    if not path.exists():
        return NOTHING
    result = renamed.load(path)
    rows = [[f"`{row['kernel']}`", str(row["size"]), milliseconds(row["measured_ms"]),
             milliseconds(row["predicted_ms"]), f"{100 * row['error']:+.1f} %", row["bound"]]
            for row in sorted(result["rows"], key=lambda row: (row["size"], row["kernel"]))]
    body = table(["kernel", "m = n = k", "measured ms", "predicted ms", "error", "bound"], rows)
    return (f"{body}\n\nMedian error {100 * result['median_error']:.1f} %, largest "
            f"{100 * result['largest_error']:.1f} %; measured on {result['measured_on'][:10]} "
            f"(`{result['measured_in']}`).")


def blind(root):
    """What the planner expected of shapes drawn by seed, beside what was measured later."""
    path = root / "results/calibration" / BLIND
    if not path.exists():
        return NOTHING
    result = json.loads(path.read_text())
    rows = []
    for row in result["rows"]:
        shape = f"{row['m']} x {row['n']} x {row['k']} {row['layout']}"
        measured = f"{row['measured_us']:.4g}" if "measured_us" in row else "-"
        error = f"{100 * row['error']:+.0f} %" if "error" in row else "-"
        rows.append([row["type"], shape, f"`{row['kernel']}/{row['config']}`",
                     f"{row['predicted_us']:.4g}", measured, error])
    body = table(["type", "m x n x k", "kernel", "predicted us", "measured us", "error"], rows)
    if "median_error" not in result:
        return f"{body}\n\nDrawn with seed {result['seed']} by {result['program']}; not measured yet."
    return (f"{body}\n\nDrawn with seed {result['seed']} by {result['program']}. Median error "
            f"{100 * result['median_error']:.0f} %, largest {100 * result['largest_error']:.0f} %; "
            f"measured on {result['measured_on'][:10]} at commit {result['commit']}.")


def sections(root):
    """Name of a generated section -> its body."""
    return {"model_parameters": parameters(root), "model_fit": predictions(root, FIT),
            "model_check": predictions(root, CHECK), "blind": blind(root)}
