"""The losses that were found before any suite was drawn, and the same shapes now, in docs/reports/drawn-suite.md.

  drawn_losses   by row of the list: speed over the vendor's library, before and now   results/drawn/losses/*.json(.xz)

The files are written by `tessera bench --suite losses --json FILE`; the newest of each GPU is shown.
"""
import drawn_tables
from cells import NOTHING, table

# By row of src/lab/suite/losses.cpp: what it is, and its range on an H100 before, in turn with the better of cuBLAS
# and 12 cuBLASLt candidates, of which no file is kept.
ROWS = {
    "rows16": ("BF16, rows at odd multiples of 16 bytes", "0.57-0.74"),
    "odd_within": ("TF32 and BF16 near 5000, odd, within 64 MiB", "0.24, 0.53"),
    "fp32_within": ("FP32 4097, 8192, 16384 within 64 MiB", "0.95, 1.01, 0.99"),
    "between": ("BF16 1536, 2560, 5120", "0.87, 0.93, 0.95"),
    "up_projection": ("BF16 11008 x 4096 x 4096", "0.89-0.97"),
    "decode": ("BF16 and FP16, 1 to 96 tokens", "0.80-0.97"),
    "long_k": ("BF16 512 x 512 x 32768, 256 x 256 x 65536", "0.82-0.90"),
    "tf32_across_k": ("TF32 3072 NN, TT", "0.88"),
    "fp64_updates": ("FP64 updates, k 256 and 512", "0.80-0.90"),
    "fp64": ("FP64 10000 x 500 x 500, 3072 TN, small squares", "0.83-0.97"),
    "fp32": ("FP32 777, 64 x 4096 x 14336", "0.81, 0.92"),
    "fp32_batches": ("FP32 batches of 100 and of 256", "0.71, 0.91"),
    "odd_batch": ("FP16 768 x (197 x 64 x 197)", "0.12"),
    "short_batch": ("BF16 16 x (4096 x 4096 x 128)", "0.84-0.90"),
    "large": ("BF16 large squares, and with bias and activation", "0.98-1.02"),
}


def range_of(ratios):
    least, most = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return least if least == most else f"{least}-{most}"


def cells_of(file, row):
    return drawn_tables.timed([cell for cell in file["cells"] if cell.get("from") == row])


def row_of(name, files):
    words, before = ROWS[name]
    line = [words, before]
    for file in files:
        cells = cells_of(file, name)
        ratios = drawn_tables.ratios_of(cells)
        if not ratios:
            line += ["-", "-"]
            continue
        best = drawn_tables.geometric_mean([drawn_tables.best_ratio(cell) for cell in cells])
        line += [f"**{drawn_tables.geometric_mean(ratios):.2f}** ({range_of(ratios)})", f"{best:.2f}"]
    return line


def newest_by_gpu(files):
    by_gpu = {}
    for file in files:  # the oldest first
        by_gpu[file["environment"]["device"]["name"]] = file
    return list(by_gpu.values())


def sections(root):
    files = newest_by_gpu(drawn_tables.load_all(root, "results/drawn/losses", drawn_tables.SCHEMA))
    if not files:
        return {"drawn_losses": NOTHING}
    names = [file["environment"]["device"]["name"] for file in files]
    header = ["what", "before", *(column for name in names for column in (name, "any workspace"))]
    text = table(header, [row_of(name, files) for name in ROWS])
    return {"drawn_losses": text + "\n\nGeometric mean and range of the speed over the vendor's library. " +
            " ".join(f"{drawn_tables.source_words(file)}." for file in files)}
