"""The generated sections of docs/counts.md: what observers cost, and what L1's counters add."""
import renamed
from cells import NOTHING, table


def load(path):
    return renamed.load(path) if path.exists() else None


def observer_cost(root):
    file = load(root / "results/calibration/observer_cost.json")
    if not file:
        return NOTHING
    rows = [[row["kernel"].replace("_", " "), f"{row['nothing']:.3f}"]
            + [f"{row[what]:.3f} ({row[what] / row['nothing']:.1f} x)" for what in ("counts", "checks")]
            for row in file["cpu_seconds"]]
    n, host = file["size"], file["environment"]["host"]["cpu"]
    words = (f"CPU seconds of one core ({host}), {n}x{n}x{n}, `results/calibration/observer_cost.json`, written by "
             "`observer_cost`.")
    return words + "\n\n" + table(["kernel", "instructions alone", "memory counts", "all checks"], rows)


def sent_again(root):
    file = load(root / "results/calibration/h200_ncu.json")
    if not file:
        return NOTHING
    sizes = sorted({(one["m"], one["n"], one["k"]) for one in file["launches"]})
    names = sorted({one["entry"] for one in file["launches"] if one["shared_store_wavefronts"]})
    rows = []
    for name in names:
        cells = [name.split("__")[0].removeprefix("rung_").replace("_", " ")]
        for m, n, k in sizes:
            launches = [one for one in file["launches"]
                        if one["entry"] == name and (one["m"], one["n"], one["k"]) == (m, n, k)]
            for what in ("shared_store_wavefronts", "shared_load_wavefronts"):
                shares = [100 * (one["l1_" + what] / one[what] - 1) for one in launches if one[what]]
                cells.append(f"{shares[0]:.2f}" if shares else "")
        rows.append(cells)
    header = ["%"] + [f"{what}, {m}x{n}x{k}" for m, n, k in sizes for what in ("stores", "loads")]
    return table(header, rows)


def sections(root):
    return {"observer_cost": observer_cost(root), "sent_again": sent_again(root)}
