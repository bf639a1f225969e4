#!/usr/bin/env python3
"""Keeps what NVIDIA's profiler counted of every rung, so that our counts can be held to it.

tools/calibrate/compare_ncu.py DIR [--out results/calibration/h200_ncu.json]

DIR holds the ncu_MxNxK.csv files that tools/calibrate/ncu_counts wrote on a machine with a GPU. The result
has one entry a launch with the counts that the virtual GPU has too, under our names.
tests/lab/counts/ncu_test.cpp lays the two side by side. Where DIR has the files of --collisions, what its
kernels asked for and what L1 counted of them goes to h200_collisions.json beside it.
"""

import argparse
import csv
import json
import pathlib
import re
import sys

PATCHED = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared"
COUNTED = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
METRICS = {
    "warp_instructions": "smsp__inst_executed.sum",
    "ffma_threads": "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "dfma_threads": "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "global_sectors": "memory_l2_theoretical_sectors_global",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_load_wavefronts": PATCHED + "_op_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st.sum",
    "shared_store_wavefronts": PATCHED + "_op_st.sum",
    # What L1's own counters say: wavefronts that were sent again are in it.
    "l1_shared_load_wavefronts": COUNTED + "_op_ld.sum",
    "l1_shared_store_wavefronts": COUNTED + "_op_st.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "l2_read_sectors": "lts__t_sectors_op_read.sum",
    "l2_written_sectors": "lts__t_sectors_op_write.sum",
    "l2_written_sectors_of_sms": "lts__t_sectors_srcunit_tex_op_write.sum",
}


# Of kernels in which two kinds of access meet; a row of several launches each.
COLLISIONS = {
    "load_wavefronts": COUNTED + "_op_ld.sum",
    "store_wavefronts": COUNTED + "_op_st.sum",
    "stored_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "sectors_sent_to_l2": "l1tex__m_l1tex2xbar_write_sectors_mem_lg_op_st.sum",
    "l2_written_sectors": "lts__t_sectors_op_write.sum",
    "l2_written_sectors_of_sms": "lts__t_sectors_srcunit_tex_op_write.sum",
}


def launches(path):
    """The rows of one file as dictionaries; log lines of ncu start with ==."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("==")]
    rows = csv.DictReader(lines)
    for row in rows:
        if row["ID"]:  # the first row holds the units
            yield row


def shape_of(path):
    match = re.fullmatch(r"ncu_(\d+)x(\d+)x(\d+)\.csv", path.name)
    if not match:
        raise SystemExit(f"compare_ncu.py: {path.name} is not named ncu_MxNxK.csv")
    return dict(zip("mnk", map(int, match.groups())))


def number(text):
    return int(float(text.split(" ")[0].replace(",", "")))


def kept_collisions(folder):
    """The rows of calibrate with lists of what each of their launches counted."""
    rows = json.loads((folder / "collisions.json").read_text())["collisions"]
    profiled = list(launches(folder / "ncu_collisions.csv"))
    repeats = len(profiled) // len(rows)
    if repeats * len(rows) != len(profiled):
        sys.exit(f"compare_ncu.py: {len(profiled)} launches of {len(rows)} rows")
    for i, row in enumerate(rows):
        row.pop("milliseconds")  # a profiler was in the way
        its = profiled[i * repeats:(i + 1) * repeats]
        row["counted"] = {ours: [number(one[theirs]) for one in its]
                          for ours, theirs in COLLISIONS.items()}
    return rows


def write(path, schema, key, kept):
    text = ",\n  ".join(json.dumps(one) for one in kept)
    path.write_text(f'{{"schema": "{schema}",\n "device": "NVIDIA H200",\n "{key}": [\n  {text}\n ]}}\n')
    print(f"{len(kept)} {key} in {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results/calibration/h200_ncu.json"))
    options = parser.parse_args()
    files = sorted(options.folder.glob("ncu_[0-9]*.csv"))
    if not files:
        sys.exit(f"compare_ncu.py: no ncu_MxNxK.csv in {options.folder}")
    kept = []
    for path in files:
        for row in launches(path):
            if not all(theirs in row for theirs in METRICS.values()):
                print(f"{path.name} was asked for other metrics: left out")
                break
            counts = {ours: number(row[theirs]) for ours, theirs in METRICS.items()}
            kept.append({"entry": row["Kernel Name"], **shape_of(path), **counts})
    if kept:
        write(options.out, "tessera.ncu/1", "launches", kept)
    if (options.folder / "ncu_collisions.csv").exists():
        write(options.out.parent / "h200_collisions.json", "tessera.collisions/1", "collisions",
              kept_collisions(options.folder))


if __name__ == "__main__":
    main()
