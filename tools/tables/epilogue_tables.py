"""Products with an epilogue beside cublasLt's with the same one.

  epilogues       docs/epilogues.md   BF16, TN: each tile that applies one in its store, and a later launch
  epilogues_best  docs/epilogues.md   what the library takes, all layouts and both types
  epilogues_c     docs/epilogues.md   products that add to C, beside the same without one, and the code before

The first two from results/epilogues/, a table a card: h100_{none,bias,bias_relu,bias_gelu,bias_gelu_erf}.json and
h100_best*.json, the same of h200. Made on a GPU (the first for each of none, bias_row, bias_row+relu,
bias_row+gelu, bias_row+gelu_erf; the second for each type and epilogue):

  tiles='wgmma_bf16_fused/128*,wgmma_bf16/128x256*,wgmma_bf16/128x192*,wgmma_bf16_f32/128*'
  build/tessera bench --kernel "$tiles" --type bf16 -m 4096,8192 --layout TN --epilogue bias_row \\
                      --mode burst --rounds 3 --workspace-limit 2000000000 --json results/epilogues/h100_bias.json
  build/tessera bench --kernel best --type bf16 -m 1024,2048,4096,8192 --layout all --epilogue bias_row+gelu \\
                      --mode burst --rounds 3 --json results/epilogues/h100_best.json

The third from h100_c_*.json, with the images of the commit before, for each type and for a beta of 0, too:

  build/tessera bench --kernel best --type bf16 -m 1024,2048,4096,8192 --layout NN,TN --beta 1 \\
                      --mode burst --rounds 3 --against before.images --json results/epilogues/h100_c_bf16.json
"""
import renamed
import results_files
from cells import NOTHING, table

WORDS = {"none": "none", "bias_row": "bias", "bias_row+relu": "bias, ReLU", "bias_row+gelu": "bias, GELU",
         "bias_row+gelu_erf": "bias, GELU by erf"}
TYPES = {"bf16": "BF16", "f16": "FP16", "tf32": "TF32", "bf16,bf16,f32,f32,f32": "BF16 to FP32"}
LAYOUTS = ("NN", "NT", "TN", "TT")
CARDS = {"h100": "H100", "h200": "H200"}
SAID = ("{}. Milliseconds, in brackets the ratio of speeds to cublasLt with the same epilogue (it has no GELU by "
        "erf), timed in turn, burst; losses in bold. Random data, verified.")


def epilogue_of(run):
    return run["problem"].get("epilogue") or "none"


def is_shown(run):
    """Of one mode. The file of tiles names a workspace limit, so it is not asked for one here."""
    return run["time_ms"] and run["mode"] == "burst" and run["verified"] in ("full", "sampled")


def loaded(root, paths):
    files = []
    for path in paths:
        if path.exists():
            file = renamed.load(path)
            file["name"] = path.name
            results_files.require_one_commit(file, f"results/epilogues/{path.name}")
            file["runs"] = [run for run in file["runs"] if is_shown(run)]
            files.append(file)
    return files


def cell(run):
    if run is None:
        return "-"
    text = f"{run['time_ms']['median']:.3f}"
    ratio = run["ratio_to_vendor"]
    if not ratio:
        return text
    text = f"{text} ({ratio:.2f})"
    return f"**{text}**" if ratio < 0.995 else text


def column_of(run):
    tile = run["config"].split("x64_")[0]
    if run["kernel"].endswith("_fused"):
        return tile
    return "later launch" if run["kernel"].endswith("_f32") else f"plain {tile}"


def with_source(card, files, text):
    return f"{text}\n\n{SAID.format(CARDS[card])} {results_files.described(files)}."


def tiles(root, card):
    names = ("none", "bias", "bias_relu", "bias_gelu", "bias_gelu_erf")
    files = loaded(root, [root / f"results/epilogues/{card}_{name}.json" for name in names])
    if not files:
        return None
    by, columns = {}, []
    for file in files:
        for run in file["runs"]:
            if column_of(run) not in columns:
                columns.append(column_of(run))
            by[run["problem"]["m"], epilogue_of(run), column_of(run)] = run
    # The tiles' own columns, then what they are compared with.
    columns.sort(key=lambda name: (name == "later launch", name.startswith("plain")))
    rows = [[str(m), WORDS[epilogue], *(cell(by.get((m, epilogue, name))) for name in columns)]
            for m in sorted({m for m, _, _ in by}) for epilogue in WORDS
            if any(key[:2] == (m, epilogue) for key in by)]
    return with_source(card, files, table(["m = n = k", "epilogue", *columns], rows))


def best(root, card):
    files = loaded(root, sorted((root / "results/epilogues").glob(f"{card}_best*.json")))
    rows = {}
    for file in files:
        for run in file["runs"]:
            p = run["problem"]
            if results_files.is_ours(run):
                rows.setdefault((p["type"], epilogue_of(run), p["m"], p["n"], p["k"]), {})[p["layout"]] = run
    if not rows:
        return None
    lines = []
    for (kind, epilogue, m, n, k), runs in sorted(rows.items()):
        used = sorted({f"{run['kernel']}/{run['config']}" for run in runs.values()})
        shape = str(m) if m == n == k else f"{m} x {n} x {k}"
        lines.append([TYPES[kind], WORDS[epilogue], shape, "; ".join(used),
                      *(cell(runs.get(layout)) for layout in LAYOUTS)])
    head = ["type", "epilogue", "m x n x k", "kernel", *LAYOUTS]
    return with_source(card, files, table(head, lines))


def type_of(problem):
    """As it was named: one word, or five between commas."""
    named = problem["type"]
    return ",".join(named.values()) if isinstance(named, dict) else named


def code_before(files):
    """The build that --against named: by its commit where the files have it."""
    commits = {file["environment"].get("other_commit") for file in files}
    if None in commits:
        return "that of the build before (`--against`; its commit was not recorded)"
    return f"that of commit {', '.join(sorted(commits))}"


def adding(root, card):
    files = loaded(root, sorted((root / "results/epilogues").glob(f"{card}_c_*.json")))
    rows = {}
    for file in files:
        for run in file["runs"]:
            p = run["problem"]
            key = list(TYPES).index(type_of(p)), p["layout"], p["m"]
            rows.setdefault(key, {})[p["beta"], run["build"]] = run
    if not rows:
        return None
    lines = [[TYPES[list(TYPES)[kind]], layout, str(m),
              *(cell(runs.get(of)) for of in ((1, "this"), (1, "other"), (0, "this"), (0, "other")))]
             for (kind, layout, m), runs in sorted(rows.items())]
    head = ["type", "layout", "m = n = k", "adds to C", "before", "without C", "before"]
    said = ("{}. Milliseconds, in brackets the ratio of speeds to cuBLAS, timed in turn, burst; losses in bold. What the "
            "library takes, its code of today and {} by the same plan. Random data, verified.")
    return f"{table(head, lines)}\n\n{said.format(CARDS[card], code_before(files))} {results_files.described(files)}."


def of_all_cards(make, root):
    return "\n\n".join(text for card in CARDS if (text := make(root, card))) or NOTHING


def sections(root):
    return {"epilogues": of_all_cards(tiles, root), "epilogues_best": of_all_cards(best, root),
            "epilogues_c": of_all_cards(adding, root)}
