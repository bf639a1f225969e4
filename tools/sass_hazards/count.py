#!/usr/bin/env python3
"""Compiles the .cu files of public repositories and counts what the hazard checker of tessera sass finds in them.

    tools/sass_hazards/count.py CHECKOUTS [--build build] [--objects FOLDER] [--jobs 2] [--edits 1000] [--learn]

CHECKOUTS is a folder with one checkout a repository, named OWNER__NAME; a file .revision in it, or git, says which
commit it is. Every .cu file that nvcc compiles as it is counts, for five architectures. --learn writes
src/sass/model/latency_rows/public_*.cpp from these kernels; then build and count again. The counts go into
results/sass_hazards.json. Needs the targets judge_hazards and mine_latencies of the build folder; nothing of the
repositories is copied.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/field_report"))

from report import revision  # noqa: E402

ARCHITECTURES = (75, 80, 86, 89, 90)
LEARNED = (75, 80, 86, 90)  # 89 goes with 86
TARGETS = [word for target in ("compute_75,code=sm_75", "compute_80,code=[sm_80,sm_86,sm_89]",
                               "compute_90,code=sm_90") for word in ("-gencode", f"arch={target}")]
FLAGS = ["-fatbin", "-std=c++17", "-O3", "-w", "--expt-relaxed-constexpr", "--expt-extended-lambda"]


def repositories(checkouts):
    return sorted(path for path in checkouts.iterdir() if path.is_dir() and "__" in path.name)


def name_of(folder):
    return folder.name.replace("__", "/", 1)


def object_of(objects, checkouts, file):
    return objects / (str(file.relative_to(checkouts)).replace("/", "@").replace(" ", "_") + ".fatbin")


def compile_file(nvcc, file, made):
    """Whether there is code of it; a file that did not compile leaves the compiler's words."""
    log = made.with_suffix(".log")
    if made.exists() or log.exists():
        return made.exists()
    try:
        ran = subprocess.run([nvcc, *FLAGS, f"-I{file.parent}", *TARGETS, "-o", str(made), str(file)],
                             cwd=file.parent, capture_output=True, text=True, errors="replace", check=False,
                             timeout=600)
        text, works = ran.stdout + ran.stderr, ran.returncode == 0
    except subprocess.TimeoutExpired:
        text, works = "took more than 600 seconds\n", False
    if not works:
        made.unlink(missing_ok=True)
        log.write_text(text)
    return works


def halves(counts):
    """Names of the repositories of one half: kernels are shared out evenly, large repositories first."""
    sums, first = [0, 0], []
    for name in sorted(counts, key=lambda name: (-counts[name], name)):
        smaller = 0 if sums[0] <= sums[1] else 1
        sums[smaller] += counts[name]
        if smaller == 0:
            first.append(name)
    return first


def judge(build, listed, architecture, first, edits):
    words = [str(build / "judge_hazards"), str(architecture), str(listed), "--edits", str(edits)]
    for name in first:
        words += ["--first-half", name]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def totals(judged):
    """What is stored of one architecture: no texts of objections."""
    every = judged["repositories"].values()
    counts = ("compiled", "kernels", "judged", "judged_with_copies", "with_objection")
    stored = {key: sum(one[key] for one in every) for key in counts}
    stored["not_judged"] = judged["not_judged"]
    for key in ("no_repository", "the_other_half", "the_other_repositories"):
        stored[f"learned_from_{key}"] = judged[f"learned_from_{key}"]["with_objection"]
    if "edits" in judged:
        stored["edits"] = judged["edits"]
    stored["repositories"] = {name: one["kernels"] for name, one in judged["repositories"].items()}
    return stored


def learn(build, release, made):
    for architecture in LEARNED:
        rows = subprocess.run([str(build / "mine_latencies"), f"CUDA {release}", str(architecture), "--public",
                               *map(str, made)], capture_output=True, text=True, check=True).stdout
        path = ROOT / f"src/sass/model/latency_rows/public_sm_{architecture}.cpp"
        path.write_text(subprocess.run(["clang-format", f"--assume-filename={path}"], cwd=ROOT, input=rows,
                                       capture_output=True, text=True, check=True).stdout)


def options_of():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--objects", type=pathlib.Path, help="where compiled code is kept; default: BUILD/sass_hazards")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--no-compile", action="store_true", help="counts what OBJECTS holds already")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--edits", type=int, default=1000, help="per architecture")
    parser.add_argument("--learn", action="store_true")
    parser.add_argument("--texts", type=pathlib.Path, help="a file for the sentences of all objections")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/sass_hazards.json")
    options = parser.parse_args()
    options.checkouts = options.checkouts.resolve()
    options.objects = (options.objects or options.build / "sass_hazards").resolve()
    return options


def main():
    options = options_of()
    options.objects.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([options.nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    release = re.search(r"V([\d.]+)", version)[1]
    folders = repositories(options.checkouts)
    files = [(folder, file, object_of(options.objects, options.checkouts, file))
             for folder in folders for file in sorted(folder.rglob("*.cu"))]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        works = list(pool.map(lambda one: one[2].exists() if options.no_compile else
                              compile_file(options.nvcc, one[1], one[2]), files))
        made = [one for one, is_made in zip(files, works) if is_made]
        if options.learn:
            return learn(options.build, release, [one[2] for one in made])
        listed = options.objects / "list.txt"
        listed.write_text("".join(f"{name_of(folder)}\t{path}\n" for folder, _, path in made))
        counts = judge(options.build, listed, 90, [], 0)["repositories"]
        first = halves({name: one["kernels"] for name, one in counts.items()})
        judged = list(pool.map(lambda one: judge(options.build, listed, one, first, options.edits), ARCHITECTURES))
    stored = {"nvcc": release, "repositories": {}, "architectures": {}}
    for folder in folders:
        stored["repositories"][name_of(folder)] = {
            "revision": revision(folder)[:12], "files": sum(one[0] == folder for one in files),
            "compiled": sum(one[0] == folder for one in made), "half": 1 if name_of(folder) in first else 2}
    for architecture, of in zip(ARCHITECTURES, judged):
        stored["architectures"][f"sm_{architecture}"] = totals(of)
    options.out.write_text(json.dumps(stored, indent=1) + "\n")
    if options.texts:
        options.texts.write_text(json.dumps(dict(zip(ARCHITECTURES, judged)), indent=1))
    for name, one in stored["architectures"].items():
        print(name, {key: value for key, value in one.items() if key != "repositories"})
    return None


if __name__ == "__main__":
    main()
