"""Words of README and docs with figures that nobody measured: page, words, and why they need no file.
They are taken out of the page before figures are looked for; each must occur in it."""

FITTED = "what tools/tune/move_costs.py prints of the sweeps that the page names"
PROTOCOL = "the protocol itself, as src/lab/timing/measure.h and vendor.cpp have it"
BYTES = "bytes of the operands and D, computed from the shape"
MADE_UP = "a made-up card, to show the arithmetic"
DATA_SHEET = "a number of the hardware"
QUOTED = "times that another author published"
LIMIT = "a limit that the build or a test checks"

NOT_MEASURED = (
    ("docs/how-we-measure.md", "250 ms idle", PROTOCOL),
    ("docs/how-we-measure.md", "until 50 ms", PROTOCOL),
    ("docs/how-we-measure.md", "at least 100 ms", PROTOCOL),
    ("docs/how-we-measure.md", "5-95 % range", PROTOCOL),
    ("docs/how-we-measure.md", "a 64 MiB workspace", PROTOCOL),
    ("docs/how-we-measure.md", "those 64 MiB", PROTOCOL),
    ("docs/performance.md", "read 134 MB", BYTES),
    ("docs/performance.md", "move 206 MB", BYTES),
    ("docs/performance.md", "move 246 MB", BYTES),
    ("docs/explain.md", "1000 GB/s and 10 TFLOP/s that is 250 GFLOP/s, 2.5 %", MADE_UP),
    ("docs/architecture.md", "below 50 MB together", LIMIT),  # WHY: Binaries.* of tests/house
    ("docs/check.md", "8 MB (a GPU's default)", DATA_SHEET),
    ("docs/architecture.md", "8.6, 8.7, 8.9", "compute capabilities"),
    ("docs/architecture.md", "10.0, 10.3", "compute capabilities"),
    ("docs/architecture.md", "11.0, 12.0", "compute capabilities"),
    ("docs/fp64.md", "| 2080 Ti | 13.6 s | 17.2 s | 11.3 s | - | 11.5 s |", QUOTED),
    ("docs/fp64.md", "2.13 s | 0.90 s", QUOTED),
    ("docs/sass.md", "published reordering won 1 %", QUOTED),
    ("docs/sass-patching.md", "12 +1 % and +6.5 %, 08 +1.5 % and +4 %, 10 +1 % and +4 %, 11 and 15 +0.5 % and up to +2.5 %",
     "predictions, written down before the run"),
    ("docs/sass-patching.md", "`simt_f32` +0.5 % and +2.2 %", "predictions, written down before the run"),
    ("docs/fp32.md", "192 of the 256 cycles", "a product: 4 wavefronts, 6 loads, 8 warps"),
    ("docs/model.md", "more than 30 % of the time", "where the model draws a line"),
    ("docs/registers.md", "so 1.00 is the limit", "one instruction per cycle"),
    ("docs/registers.md", "1.00 would be 48 cycles", "two warps of 24 instructions"),
    ("docs/registers.md", "which is 66.9 TFLOP/s", "the product of 132 SMs, 128 lanes, 1980 MHz and 2"),
    ("docs/registers.md", "within 8 cycles", "how `ports.h` defines such a read; no cost"),
    ("docs/epilogues.md", "6 % at k = 4096, 3 % at 8192", "4100 cycles of the table above over its 65536 and twice as many"),
    ("docs/epilogues.md", "| bias, GELU | 0.96 |", "a prediction"),
    ("docs/epilogues.md", "0.93 with one fence, 0.96 with C", "predictions"),
    ("docs/epilogues.md", "0.97 through the panels", "a prediction"),
    ("docs/epilogues.md", "0.98 with the early start", "a prediction"),
    ("docs/epilogues.md", "about 3000 cycles a tile", "the difference of two stored times, as the sentence says"),
    ("docs/epilogues.md", "20 MB", "size of code that was not built"),
    ("docs/epilogues.md", "241 KB", "size of code, not time"),
    ("docs/epilogues.md", "1.13 for GELU", "a derivative"),
    ("docs/reports/drawn-suite.md", "0.98 for all cells and 0.93 without odd strides, 0.90 for layers, 0.88 for updates, 1.05 for "
     "batches, 0.88 for BF16, 1.05 for TF32, and 1.9 for odd strides", "predictions, written down before the run"),
    ("docs/reports/drawn-suite.md", "1.05 to 2.05 times as wide", "how the suite draws, as src/lab/suite/classes.cpp has it"),
    ("docs/reports/drawn-suite.md", "at most 5 ms by a rough estimate, and its operands at most 8 GiB", "as src/lab/suite/draw.h has it"),
    ("docs/reports/drawn-suite.md", "within 64 MiB of workspace, the vendor's", PROTOCOL),
    ("docs/reports/drawn-suite.md", "two rounds of bursts of 10 ms", PROTOCOL),
    ("docs/reports/drawn-suite.md", "100 ms idle before a burst only where a call takes more than 100 us. A cell below 0.97", PROTOCOL),
    ("docs/reports/drawn-suite.md", "idles here only above 100 us", PROTOCOL),
    ("docs/reports/drawn-suite.md", "Cells above 0.97", PROTOCOL),
    ("docs/reports/drawn-suite.md", "0.87 to 0.90 was predicted for all cells, 0.78 for rows of 2, 4 or 8, 0.75 for odd ones, 0.85 for "
     "batches, TF32 and FP64, 0.94 for FP32, and 33 % of cells below 0.85", "predictions, written down before the run"),
    ("docs/reports/drawn-suite.md", "a choice that no sweep has timed costs 5 %", "a constant of tools/tune/move_costs.py"),
    ("docs/reports/drawn-suite.md", "| drawn, fitted | 2000 | 1.036 | 1.028 | 1.205 | 1.168 |", FITTED),
    ("docs/reports/drawn-suite.md", "| goals, fitted | 388 | 1.006 | 1.006 | 1.040 | 1.031 |", FITTED),
    ("docs/reports/drawn-suite.md", "| drawn, held out | 800 | 1.036 | 1.031 | 1.219 | 1.192 |", FITTED),
    ("docs/reports/drawn-suite.md", "| drawn, held out | 349 | 1.058 | 1.023 | 1.306 | 1.138 |", FITTED),
    ("docs/reports/drawn-suite.md", "with 2.5 us each", "a price that was tried"),
    ("docs/tensor-arithmetic.md", "shares of the plain product from 0.90 to 0.93", "predictions, written down before the run"),
)
