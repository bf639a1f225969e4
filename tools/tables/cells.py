"""Cells and tables of Markdown: how every generated section writes its numbers."""

NOTHING = "not measured yet"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def transposed(first, columns):
    """A table with a column for each (name, {row: cell}), rows in order of first appearance."""
    names = []
    for _, cells in columns:  # keeps a row that only later columns have near its neighbours
        for at, name in enumerate(cells):
            if name not in names:
                before = [n for n in list(cells)[:at] if n in names]
                names.insert(names.index(before[-1]) + 1 if before else 0, name)
    rows = [[name] + [cells.get(name, "-") for _, cells in columns] for name in names]
    return table([first] + [name for name, _ in columns], rows)


def number(value):
    """Three digits that count: 0.00391, 0.493, 5.81, 45.1, 812; whole numbers bare."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def speed(tflops):
    """Three digits: 0.500, 4.77, 47.0."""
    return f"{tflops:.{3 if tflops < 1 else 2 if tflops < 10 else 1}f}"


def percent(part, whole):
    return f"{100 * part / whole:.{0 if part / whole >= 0.1 else 1}f} %"


def ratio(part, whole):
    return part / whole if whole else 0
