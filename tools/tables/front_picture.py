"""The picture of README's first screen, as SVG: our FP32 speed and the vendor's by size, and the climb
of the ladder at one size. Drawn from the same runs as the tables; two files, for light and dark pages.

  docs/pictures/speed-light.svg, docs/pictures/speed-dark.svg

Panels:
  left   squares: two bars a size, ours and the vendor's, and the ratio above them
  right  one bar a rung of the FP32 ladder and one for the library's own choice, with the vendor's
         speed as a line
"""
from html import escape

import fp32_tables

WIDTH, HEIGHT = 1000, 400
LADDER_SIZE = 4096
SIZES = (512, 1024, 2048, 4096, 8192, 16384)
THEMES = {
    "light": {"text": "#1f2328", "quiet": "#59636e", "line": "#d1d9e0", "ours": "#1a7f64",
              "vendor": "#9aa4af", "inside": "#ffffff"},
    "dark": {"text": "#e6edf3", "quiet": "#9198a1", "line": "#3d444d", "ours": "#3fb68b",
             "vendor": "#6e7781", "inside": "#0d1117"},
}


class Panel:
    """A rectangle with a vertical scale in TFLOP/s that begins at 0."""

    def __init__(self, colours, left, width, most):
        self.colours = colours
        self.left, self.width = left, width
        self.top, self.bottom = 84, 322
        self.most = most
        self.parts = []

    def y(self, tflops):
        return self.bottom - (self.bottom - self.top) * tflops / self.most

    def text(self, x, y, words, size=12, colour="text", anchor="middle", bold=False):
        weight = ' font-weight="600"' if bold else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
                          f'{weight} fill="{self.colours[colour]}">{escape(words)}</text>')

    def upright(self, x, tflops, words):
        """Along a bar that begins at 0: inside where it has room, else above."""
        inside = self.bottom - self.y(tflops) > 7 * len(words) + 10
        y = self.bottom - 6 if inside else self.y(tflops) - 5
        colour = self.colours["inside" if inside else "quiet"]
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="11.5" fill="{colour}" '
                          f'transform="rotate(-90 {x:.1f} {y:.1f})">{escape(words)}</text>')

    def bar(self, x, width, tflops, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{self.y(tflops):.1f}" width="{width:.1f}" '
                          f'height="{self.bottom - self.y(tflops):.1f}" rx="2" '
                          f'fill="{self.colours[colour]}"/>')

    def rule(self, tflops, dashed=False):
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        colour = self.colours["vendor" if dashed else "line"]
        self.parts.append(f'<line x1="{self.left}" x2="{self.left + self.width}" '
                          f'y1="{self.y(tflops):.1f}" y2="{self.y(tflops):.1f}" stroke="{colour}" '
                          f'stroke-width="{1.5 if dashed else 1}"{dash}/>')

    def frame(self, title):
        self.text(self.left, 30, title, 16, anchor="start", bold=True)
        for tick in range(0, int(self.most) + 1, 10):
            self.rule(tick)
            self.text(self.left - 8, self.y(tick) + 4, str(tick), 11, "quiet", "end")

    def key(self, items):
        x = self.left
        for colour, words in items:
            self.parts.append(f'<rect x="{x}" y="46" width="11" height="11" rx="2" '
                              f'fill="{self.colours[colour]}"/>')
            self.text(x + 17, 56, words, 12, "quiet", "start")
            x += 17 + 6.6 * len(words) + 18


def squares(panel, rows):
    """Two bars a size, and by how much ours is faster."""
    panel.frame("FP32 (no TF32): TFLOP/s at m = n = k")
    panel.key([("ours", "Tessera"), ("vendor", "cuBLAS or cuBLASLt, whichever is faster")])
    slot = panel.width / len(rows)
    wide = slot * 0.34
    for i, row in enumerate(rows):
        middle = panel.left + slot * (i + 0.5)
        panel.bar(middle - wide - 1, wide, row.tflops, "ours")
        panel.bar(middle + 1, wide, row.vendor, "vendor")
        panel.text(middle, panel.y(max(row.tflops, row.vendor)) - 7, f"{row.ratio:.2f}x", 12,
                   bold=True)
        panel.text(middle, panel.bottom + 18, row.name(), 12, "quiet")


def climb(panel, rungs, library, vendor):
    """`rungs`: (folder, TFLOP/s) in order; `library`: TFLOP/s of what the library chooses."""
    panel.frame(f"The ladder: one idea per rung, TFLOP/s at {LADDER_SIZE}")
    bars = [*((name[:2], name[3:].replace("_", " "), tflops) for name, tflops in rungs),
            ("", "Tessera's library", library)]
    slot = panel.width / len(bars)
    for i, (number, name, tflops) in enumerate(bars):
        x = panel.left + slot * i + slot * 0.14
        panel.bar(x, slot * 0.72, tflops, "ours")
        panel.text(x + slot * 0.36, panel.bottom + 18, number, 12, "quiet")
        panel.upright(x + slot * 0.36 + 4, tflops, name)
    panel.rule(vendor, dashed=True)
    panel.text(panel.left + 4, panel.y(vendor) - 6, f"cuBLAS: {vendor:.1f}", 12, "quiet",
               "start")


def picture(theme, rows, rungs, library, vendor, source):
    colours = THEMES[theme]
    most = max(10, *(max(row.tflops, row.vendor) for row in rows), vendor,
               *(tflops for _, tflops in rungs)) * 1.08
    left = Panel(colours, 46, 440, most)
    right = Panel(colours, 552, 430, most)
    squares(left, rows)
    climb(right, rungs, library, vendor)
    left.text(left.left, HEIGHT - 10, source, 11, "quiet", "start")
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, '
        'sans-serif" role="img" aria-label="Tessera and NVIDIA\'s library, FP32 on an H200">',
        *left.parts, *right.parts, "</svg>", ""])


def fp64_rows(runs):
    """Markdown: FP64 at the size of the picture, rungs and then what the library runs."""
    first = {}  # of each kernel: its default config
    for run in runs:
        is_fp64 = run["kernel"].startswith(("2", "simt_f64", "dmma_f64"))
        if is_fp64 and run["problem"]["m"] == LADDER_SIZE and run["ratio_to_vendor"]:
            first.setdefault(run["kernel"], run)
    if not first:
        return fp32_tables.NOTHING
    runs = [run for _, run in sorted(first.items())]
    return fp32_tables.table(
        ["kernel", "Tessera", "NVIDIA's library", "ratio"],
        [[run["kernel"].replace("_", " "), f"{run['tflops']:.1f}",
          f"{run['tflops'] / run['ratio_to_vendor']:.1f}", f"{run['ratio_to_vendor']:.2f}"]
         for run in runs])


def pictures(root, ladder_runs):
    """Yields (path, text); nothing where the runs are not there. `ladder_runs`: plain burst runs."""
    files = fp32_tables.result_files(root)
    burst = fp32_tables.newest_runs(files, "burst")
    rows = [row for row in fp32_tables.rows_of(burst)
            if row.is_square and row.is_whole() and row.shape[0] in SIZES]
    fastest = {}
    for run in ladder_runs:
        number = run["kernel"][:2]
        if number.isdigit() and int(number) < 20 and run["problem"]["m"] == LADDER_SIZE:
            fastest.setdefault(run["kernel"], run)
    library = burst.get((LADDER_SIZE,) * 3 + ("NN",))
    rungs = [(name, run["tflops"]) for name, run in sorted(fastest.items())]
    beside = [run["tflops"] / run["ratio_to_vendor"] for run in fastest.values()
              if run["ratio_to_vendor"]]
    if not rows or not rungs or not beside or not library:
        return
    vendor = sorted(beside)[len(beside) // 2]
    environment = max((file["environment"] for file in files), key=lambda e: e["date"])
    source = (f"{environment['device']['name']}, {environment['date'][:10]}. Left: means over NN, "
              "NT, TN and TT; right: column-major NN. Verified. From results/h200_*.json.")
    for theme in THEMES:
        yield (root / f"docs/pictures/speed-{theme}.svg",
               picture(theme, rows, rungs, library["tflops"], vendor, source))
