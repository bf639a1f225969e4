"""What a coefficient of the cost model may be: where the fit starts, and between what it stays.

A table that leaves these bounds would say something that no GPU does: faster than its data sheet, a share above one.
"""
import re

# (start, least, most[, width of the prior]) of coefficients that have bounds of their own. None: stays as the table
# has it.
OWN = {
    "passes.next_launch": None,  # the host's, which no sweep shows
    "passes.early_launch": None,
    "wgmma.launch": None,
    "wgmma.unknown_rate": None,
    "wgmma.many_repacked_bytes": None,
    "wgmma.of_many_repacked": None,
    "wgmma.short_ring": (0.1, 0.01, 0.5),
    "wgmma.write": (1.1, 1.0, 2.0),
    "wgmma.overlap": (0.3, 0.02, 0.8),
    "wgmma.registers_alone": (0.85, 0.5, 1.0),
    "wgmma.registers": (0.95, 0.5, 1.0),
    "wgmma.rows_of_16": (2.5, 1.0, 8.0, 1.5),
    "wgmma.rows_of_32": (2.0, 1.0, 6.0, 1.5),
    "wgmma.rows_of_64": (1.5, 1.0, 4.0, 1.5),
    "wgmma.a_across_k": (1.2, 0.8, 2.0),
    "wgmma.b_across_k": (1.0, 0.8, 2.0),
    "wgmma.d_rows_of_16": (1.3, 1.0, 3.0),
    "wgmma.l2_bytes": (14e6, 4e6, 25e6, 1.5),       # of requests of whole sectors; 64 bytes a clock and SM are 16.7 TB/s
    "wgmma.sm_bytes": (0.15e6, 0.04e6, 0.26e6, 1.5),
    "wgmma.k_tile": (0.03, 0.005, 0.2),
    "wgmma.latency": (0.5, 0.05, 2.0),
    "wgmma.flight_bytes": (20e3, 2e3, 100e3),
    "wgmma.short_ring_memory": (1.3, 1.0, 2.5),
    "wgmma.last_wave": (0.7, 0.2, 1.0),
    "wgmma.heat": (0.1, 0.005, 0.4, 1.5),
    "wgmma.heat_time": (300, 50, 3000),
    "wgmma.l2_held": (28e6, 10e6, 50e6),
    "wgmma.read_again": (0.25, 0.02, 1.0, 1.5),
    "wgmma.store": (0.3, 0.02, 1.5),
    "wgmma.store_more": (0.25, 0.01, 1.0),
    "wgmma.pair_store_more": (0.05, 0.002, 0.5),
    "wgmma.rows_store_c": (3.0, 0.1, 12.0),
    "wgmma.tile_of_pair": (0.9, 0.4, 1.5),
    "wgmma.c_wait": (0.5, 0.02, 4.0, 1.5),
    "wgmma.short_ring_tile": (1.5, 1.0, 5.0, 1.5),
    "wgmma.listed_tile": (1.0, 0.1, 2.5, 1.5),
    "small.copy_of_16": (0.02, 0.001, 0.5, 1.5),
    "small.copy_of_8": (0.05, 0.002, 1.0, 1.5),
    "small.copy_of_4": (0.05, 0.002, 1.0, 1.5),
    "small.copy_of_2": (0.15, 0.005, 2.0, 1.5),
    "small.elements_of_2": (1.2, 1.0, 6.0),
    "small.elements_of_4": (1.2, 1.0, 6.0),
    "small.elements_of_8": (1.2, 1.0, 6.0),
    # Loads through registers: a piece is a load, a store and their addresses.
    "mma.copy_of_16": (1.0, 0.1, 32.0, 1.5),
    "mma.copy_of_8": (4.0, 0.2, 64.0, 1.5),
    "mma.copy_of_4": (12.0, 0.5, 128.0, 1.5),
    "mma.copy_of_2": (24.0, 1.0, 256.0, 1.5),
}
# Of every family that walks stream-K schedules.
PERSISTENT = {
    "unknown_share": None,
    "start_most": None,
    "scratch_bytes": (13, 2, 60),
    "rows_bytes": (26, 3, 60),
    "fetch_bytes": (41, 15, 64),  # 64 bytes a clock reach an SM from the L2
    "fetch_beside": (0.1, 0.01, 0.6),
    "k_tile": (100, 10, 3000),
    "overlap": (0.15, 0.01, 0.8),
    "flight_bytes": (10e3, 1e3, 100e3),
    "odd_rows": (1.1, 1.0, 2.0),
    "c_bytes": (20, 3, 64),
    "c_wait": (150, 0.5, 3000, 1.5),
    "heat": (0.05, 0.002, 0.4),
    "heat_time": (300, 50, 3000),
    "l2_held": (28e6, 10e6, 50e6),
    "read_again": (0.1, 0.01, 1.0),
    "alone": (0.85, 0.05, 8.0),
    "batch_overlap": (0.3, 0.02, 0.8),
    "nearly_memory": None,
    "copy_of_16": (1.0, 0.1, 32.0),
    "copy_of_8": (1.5, 0.1, 32.0),
    "copy_of_4": (2.0, 0.1, 32.0),
    "copy_of_2": (4.0, 0.1, 64.0),
    "across_k": (1.1, 1.0, 2.5),
}
# What the operands of these families do not have: copies by width, or elements of 4 bytes that are read otherwise.
NOT_OF = {
    "simt": {"copy_of_16", "copy_of_8", "copy_of_4", "copy_of_2", "across_k", "odd_rows", "rows_bytes",
             "tile_of_batch", "batch_overlap"},
    "direct": {"copy_of_16", "copy_of_8", "copy_of_4", "copy_of_2", "across_k", "transpose_slowdown",
               "transpose_cycles", "copy_cycles", "copy_slowdown"},
    "dmma": {"copy_of_4", "copy_of_2", "across_k", "rows_bytes", "transpose_slowdown", "transpose_cycles",
             "copy_cycles", "copy_slowdown"},
    "mma": {"rows_bytes", "transpose_slowdown", "transpose_cycles", "copy_cycles", "copy_slowdown",
            "tile_of_batch", "batch_overlap"},
    "tiles": {"fetch_bytes", "fetch_beside", "k_tile", "flight_bytes", "odd_rows", "l2_held", "read_again", "alone",
              "batch_overlap", "copy_of_16", "copy_of_8", "copy_of_4", "copy_of_2", "across_k", "rows_bytes",
              "slice_sums", "transpose_slowdown", "transpose_cycles", "copy_cycles", "copy_slowdown", "add",
              "partial_bytes", "tile_of_batch"},
}
WIDTH, RATE_WIDTH = 0.5, 0.25  # deviations of the prior, in logarithms
# TFLOP/s that the lanes allow at the boost clock of 1.98 GHz and 132 SMs.
PEAKS = (("s8", 2140), ("bf16", 1070), ("f16", 1070), ("tf32", 535), ("f64", 66.9), ("f32", 66.9))
DATA_SHEETS = {"h100": 3.36e6, "h200": 4.8e6}  # bytes of device memory per microsecond
LANES = 66.9  # of what does not use tensor cores


def family_of(name):
    kernel = name.split("/")[0]
    for prefix, family in (("simt_f32_direct", "direct"), ("simt_f32_vector", "vector"), ("dmma", "dmma"),
                           ("mma", "mma"), ("wgmma", "wgmma"), ("small", "small")):
        if kernel.startswith(prefix):
            return family
    if re.search("_sm(75|80)$", kernel):
        return "tiles"
    return "simt"


def peak_of(name):
    kernel = name.split("/")[0]
    if family_of(name) in ("wgmma", "mma", "small", "dmma"):
        return next(peak for word, peak in PEAKS if word in kernel)
    return LANES if "f64" not in kernel else LANES / 2


def bounds_of(name, value, gpu):
    """(start, least, most, width of the prior) on a GPU, or None: is not fitted."""
    if name == "memory_bytes":
        return (3.0e6, 2.4e6, DATA_SHEETS[gpu], WIDTH)
    if "/" in name:
        most = min(2.0 * value, peak_of(name))
        return (min(value, 0.98 * most), 0.4 * value, most, RATE_WIDTH) if value > 0 and most > 0.45 * value else None
    family, member = (name.split(".") + [""])[:2]
    own = OWN.get(name, False)
    if family in NOT_OF:
        if member in NOT_OF[family]:
            return None
        own = OWN.get(name, PERSISTENT.get(member, False))
    if own is None:
        return None
    if own:
        return own if len(own) == 4 else (*own, WIDTH)
    if value <= 0 or value >= 1e29:
        return None
    return (value, value / 4, value * 4, WIDTH)
