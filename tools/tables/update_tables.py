#!/usr/bin/env python3
"""Writes all that is generated in the pages: sections from committed files in results/, and the reference
of the interfaces (docs/api/c.md, c-types.md, cpp.md, python.md) from the headers and the Python package, as
api_reference.py alone does, too.

A generated section lies between two lines, <!-- NAME begin --> and <!-- NAME end -->:

  measured  rung README   time on a GPU               results/ladder/h?00_ladder_*.json, by rung_tables.py
  counts    rung README   what ran, by count          results/ladder/ladder_counts.json, by rung_tables.py
  cubin     rung README   what the compiler made      results/ladder/ladder_cubin.json, by rung_tables.py
  patch     rung README   what reordering changed     results/ladder/ladder_cubin.json, by rung_tables.py
  ladder    any page      one row per rung            all of these, by ladder_table.py
  tensor_ladder, docs/pictures/tensor-ladder-*.svg   docs/tensor-ladder.md   the BF16 rungs, by tensor_ladder.py
  gpu_check any page      what make gpu-test printed  results/gpu_check.txt
  explain   any page      what explain 03 printed     results/ladder/explain_03.txt
  fp32      any page      FP32 beside the vendor's    results/h200_fp32*.json, by fp32_tables.py
  old_and_new  any page   two builds' code in one run results/h200_old_and_new*.json, by old_and_new.py
  tensor, tensor_short_*   any page  tensor cores beside the vendor's     results/tensor/{bf16,f16,tf32,f64}*.json, by tensor_tables.py
  fp32_short, fp64_short, docs/pictures/speed-*.svg   README's first screen, by front_picture.py
  rewritten any page      machine code with other registers, another order   results/ladder/h200_rewritten*.json, by rewritten_tables.py
  reordered any page      the order alone, an earlier run     results/h200_reordered.json, by rewritten_tables.py
  mutants   any page      mistakes made on purpose, and the tests      results/mutants.json, by mutant_tables.py
  mutants_drawn   any page   mistakes drawn by a seed      results/mutants_drawn.json, by mutant_tables.py
  fp32_accuracy, fp32_terms   docs/api/compute-types.md   FP32 from FP16 terms   results/accuracy/*.json, tensor/h100_f16x3*.json, by accuracy/terms_tables.py
  fp32_bf16                   docs/fp32.md                FP32 with BF16 weights results/mixed/h200_bf16_f32.json, by accuracy/terms_tables.py
  sass_hazards  docs/sass-patching.md   unchanged kernels, and edits   results/sass_hazards.json, by sass/hazard_tables.py
  goals     any page   what was to be reached, and was         all of these, by goal_tables.py
  thin, batches  any page  thin products and batches     results/tensor/thin*.json, batches/*.json, by shape_tables.py
  epilogues, epilogues_best, epilogues_c  any page  products with an epilogue   results/epilogues/*.json, by epilogue_tables.py
  drawn, drawn_reports, drawn_scatter, drawn_sweep, docs/pictures/drawn-*.svg   any page   problems drawn by seed   results/drawn/*.json, by drawn_tables.py
  drawn_losses   any page   the losses before the first report   results/drawn/losses/*.json, by reports/loss_tables.py
  pytorch_calls, pytorch_steps   docs/api/pytorch.md   with our kernels and without   results/interface/h100_*.json, by clients/pytorch_tables.py
  host_operands   docs/performance.md   operands in host memory   results/host_operands/h100_*.json, by clients/host_tables.py
  first_calls   docs/api/first-calls.md   the first call for a problem   results/interface/h200_first_calls*.json, by clients/first_call_tables.py
  house_lines, house_speed, house_times   docs/reports/house-rework.md   by reports/house_tables.py
  tune      docs/api/tuning.md   what tessera tune gained   results/tune/h100_own_calls.json, by clients/tune_tables.py
  chain     any page      chains of products in FP64  results/ladder/h100_chain*.json and h200_chain*.json, by chain_tables.py
  observer_cost, sent_again    docs/counts.md         results/calibration/observer_cost.json, h200_ncu.json
  registers_*  docs/registers.md         results/calibration/h200_registers.json, h200_registers_fit.json
  registers_profile  docs/registers.md   results/calibration/h200_fp32_profile.json, by issue_profile.py

How the files are made (the first three on a GPU, the others anywhere):

  build/tessera bench --kernel all -m 1024,2048,4096 --json results/ladder/h200_ladder_4096.json
  build/tessera bench --kernel all -m 8192 --json results/ladder/h200_ladder_8192.json
  build/tessera bench --kernel all/all -m 4096 --mode burst --json results/ladder/h200_ladder_variants.json
  build/tessera bench --kernel 20/all,21/all,22/all,23/all,24/all,25 -m 1024,2048,4096 --mode burst \\
                      --rounds 1 --json results/ladder/h200_ladder_fp64.json
  build/tessera bench --kernel 10/all -m 4096 --mode burst --rounds 2 --json results/ladder/h200_ladder_stagings.json
  build/tessera bench --kernel '3*,4*/all,wgmma_bf16/all' -m 4096,8192 --type bf16 --layout NN --mode burst \\
                      --json results/ladder/h200_ladder_bf16.json
  build/tessera bench --kernel '3*,4*/all,wgmma_bf16/all' -m 8192 --type bf16 --layout NN --mode sustained --energy \\
                      --json results/ladder/h200_ladder_bf16_sustained.json
  build/tessera bench --kernel 43 -m 4095 --layout NN --mode burst --json results/ladder/h200_ladder_bf16_odd.json
  build/tessera bench --kernel 39,44 -m 1024 --layout NN --mode burst --json results/ladder/h200_ladder_bf16_small.json
  build/tessera bench --kernel 47/all -m 2048,4096 --layout NN --mode burst --json results/ladder/h100_ladder_f16x3.json
  build/tessera bench --suite drawn --seed S --cells 1000 --minutes 25 --json results/drawn/NAME.json
  build/tessera bench --suite drawn --seed S --cells 100 --sweep --json results/drawn/sweep/NAME.json
  build/tessera bench --suite losses --json results/drawn/losses/CARD.json
  build/tessera explain 03 > results/ladder/explain_03.txt
  tools/refresh_rung all      (results/ladder/ladder_*.json; for one rung: NN)
  build/observer_cost > results/calibration/observer_cost.json
  build/calibrate_registers --json results/calibration/h200_registers.json                   (on a GPU)
  build/fit_ports results/calibration/h200_registers.json > results/calibration/h200_registers_fit.json
  tools/calibrate/ncu_counts --out logs && tools/calibrate/compare_ncu.py logs    (on a GPU)
  tools/sass_hazards/count.py CHECKOUTS            (results/sass_hazards.json)
  tools/ci/gpu_check --out logs && cp logs/summary.txt results/gpu_check.txt    (on a GPU)

Then run tools/tables/update_tables.py. What a file does not hold reads "not measured yet"; nothing is
invented. Sections with other names are left alone. With --check nothing is written, and the exit
code is 1 when a page is stale; a test runs that. Python 3, standard library only.
"""
import argparse
import re
import sys
from pathlib import Path

import api_reference
import chain_tables
import count_tables
import drawn_tables
import epilogue_tables
import fp32_tables
import front_picture
import goal_tables
import model_tables
import mutant_tables
import old_and_new
import register_tables
import rewritten_tables
import shape_tables
import tensor_ladder
import tensor_tables
from accuracy import terms_tables
from clients import first_call_tables, host_tables, pytorch_tables, tune_tables
from reports import house_tables, loss_tables
from sass import hazard_tables
from cells import NOTHING
from ladder_results import Results, is_plain_burst, load
from ladder_table import ladder
from rung_tables import counts, cubin, measured, patch

RUNG_SECTIONS = ("cubin", "counts", "measured")
PATCHED_SECTIONS = ("patch", "measured")  # of a rung that is another one's machine code


def printed(root, name):
    """What a program printed, as it stands."""
    path = root / "results" / name
    return f"```\n{path.read_text().strip()}\n```" if path.exists() else NOTHING


def replace_section(text, name, body):
    """Puts body between the markers of the section; None when the page has no such section."""
    pattern = re.compile(rf"(?ms)^<!-- {name} begin -->\n.*?^<!-- {name} end -->$")
    if not pattern.search(text):
        return None
    return pattern.sub(lambda _: f"<!-- {name} begin -->\n{body}\n<!-- {name} end -->", text)


def updated_pages(root):
    """Yields (path, text, wanted text) of each page that has generated sections."""
    results = Results(root)
    makers = {"cubin": cubin, "counts": counts, "measured": measured, "patch": patch}
    folders = sorted({path.parent for name in ("kernel.cu", "config.h")
                      for path in root.glob(f"src/ladder/*/{name}")})
    for folder in folders:
        page = folder / "README.md"
        if not page.exists():
            sys.exit(f"{page}: a rung without a README")
        text = wanted = page.read_text()
        is_patched = not (folder / "kernel.cu").exists()
        for name in PATCHED_SECTIONS if is_patched else RUNG_SECTIONS:
            wanted = replace_section(wanted, name, makers[name](results, folder.name))
            if wanted is None:
                sys.exit(f"{page}: no section <!-- {name} begin --> ... <!-- {name} end -->")
        yield page, text, wanted
    ladder_runs = [run for run in results.timed["runs"] if is_plain_burst(run)]
    library_runs = [run for name in ("h200_portable.json", "tensor/f64.json")
                    for run in load(root / "results" / name, "runs")["runs"] if is_plain_burst(run)]
    # Made once; only the tables that link to rungs differ from page to page.
    generated = {**model_tables.sections(root), **count_tables.sections(root),
                 **fp32_tables.sections(root), **register_tables.sections(root),
                 **old_and_new.sections(root), **tensor_tables.sections(root),
                 **house_tables.sections(root), **loss_tables.sections(root),
                 **chain_tables.sections(root), **rewritten_tables.sections(root),
                 **shape_tables.sections(root), **goal_tables.sections(root),
                 **mutant_tables.sections(root), **epilogue_tables.sections(root),
                 **drawn_tables.sections(root), **pytorch_tables.sections(root),
                 **host_tables.sections(root), **first_call_tables.sections(root),
                 **tune_tables.sections(root), **terms_tables.sections(root),
                 **hazard_tables.sections(root),
                 "gpu_check": printed(root, "gpu_check.txt"), "explain": printed(root, "ladder/explain_03.txt"),
                 "fp64_short": front_picture.fp64_rows(ladder_runs + library_runs)}
    for page in [root / "README.md", *sorted(root.glob("docs/*.md")), *sorted(root.glob("docs/*/*.md"))]:
        text = wanted = page.read_text() if page.exists() else ""
        of_page = {"ladder": ladder(results, page, folders),
                   "tensor_ladder": tensor_ladder.table_of(results, page, folders)}
        for name, body in {**generated, **of_page}.items():
            wanted = replace_section(wanted, name, body) or wanted
        yield page, text, wanted
    if (root / "README.md").exists():
        for name, wanted in api_reference.pages(root).items():
            yield root / name, (root / name).read_text() if (root / name).exists() else "", wanted
        for path, wanted in front_picture.pictures(root, ladder_runs):
            yield path, path.read_text() if path.exists() else "", wanted
        for path, wanted in drawn_tables.pictures(root):
            yield path, path.read_text() if path.exists() else "", wanted
        for path, wanted in tensor_ladder.pictures(root, results, folders):
            yield path, path.read_text() if path.exists() else "", wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a page is stale")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2],
                        help="the repository (default: the one that holds this tool)")
    options = parser.parse_args()
    stale = [(page, wanted) for page, text, wanted in updated_pages(options.root) if text != wanted]
    for page, wanted in stale:
        name = page.relative_to(options.root)
        if options.check:
            print(f"{name} is out of date: run tools/tables/update_tables.py")
        else:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(wanted)
            print(f"{name} updated")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
