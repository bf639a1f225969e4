"""Chains of products, each X += B and then A = A X: ours beside the vendor's library.

  chain   any page   one row a kernel: times of whole chains by size   results/ladder/CARD_chain*.json

Made on a GPU (a second call, for what the first one had no time for, writes a file of its own):

  build/tessera bench --kernel 20,21,21/lanes_down,21/lanes_down_bt,22,22/lanes_down,23,23/lanes_down,24,24/staged,25 \\
                      -m 1024,2048,4096 --chain 10 --add-before --rounds 1 --json results/ladder/h100_chain.json
"""
import json
import sys

from cells import NOTHING, table

SCHEMA = "tessera.chain/1"
CARDS = ("h100", "h200")  # one table each


def load(path):
    file = json.loads(path.read_text())
    if file.get("schema") != SCHEMA:
        sys.exit(f"{path}: schema is {file.get('schema')}, but this tool reads {SCHEMA}")
    return file


def milliseconds(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def cell(chain):
    """12.3 · 4.56 (0.37): ours, the vendor's, and our speed over theirs."""
    if not chain["correct"]:
        return "wrong"
    if not chain["own_ms"]:
        return "-"
    own = chain["own_ms"]["median"]
    if not chain["vendor_ms"]:
        return milliseconds(own)
    vendor = chain["vendor_ms"]["median"]
    ratio = vendor / own
    return f"{milliseconds(own)} · {milliseconds(vendor)} ({ratio:.{2 if ratio >= 0.1 else 3}f})"


def name_of(chain, first_configs):
    rung = chain["kernel"].replace("_", " ")
    return rung if first_configs[chain["kernel"]] == chain["config"] else f"{rung}, {chain['config']}"


def body(file, card):
    first_configs, rows = {}, {}
    for chain in file["chains"]:
        first_configs.setdefault(chain["kernel"], chain["config"])
        rows.setdefault(name_of(chain, first_configs), {})[chain["problem"]["m"]] = cell(chain)
    sizes = sorted({c["problem"]["m"] for c in file["chains"]})
    length = file["chains"][0]["length"]
    environment = file["environment"]
    checked = sorted({c["problem"]["m"] for c in file["chains"] if c["checked"] == "sampled"})
    samples = f"; from {checked[0]} on a sample of each product was checked" if checked else ""
    return "\n\n".join([
        f"Milliseconds for {length} products, additions and packing included: ours · the vendor's "
        "(our speed relative to it):",
        table(["kernel", *map(str, sizes)],
              [[name, *(cells.get(size, "-") for size in sizes)] for name, cells in rows.items()]),
        f"Column-major NN, FP64, every product and every addition verified{samples}. "
        f"{environment['device']['name']}, driver {environment['device']['driver']}, "
        f"{environment['date'][:10]}; {environment['libraries']['vendor']}; in turn, burst, median; commit "
        f"{environment.get('commit') or 'not recorded'}; `results/ladder/{card}_chain*.json`."])


def merged(paths):
    """The chains of several files of one commit, in the order of the ladder."""
    files = [load(path) for path in paths]
    commits = sorted({file["environment"].get("commit") or "not recorded" for file in files})
    if len(commits) > 1:
        sys.exit(f"{paths[0].parent}: chains are of several commits ({', '.join(commits)}), but must be of one")
    chains = sorted((chain for file in files for chain in file["chains"]), key=lambda c: c["kernel"])
    return {**files[0], "chains": chains}


def sections(root):
    bodies = []
    for card in CARDS:
        paths = sorted((root / "results/ladder").glob(f"{card}_chain*.json"))
        if paths:
            bodies.append(body(merged(paths), card))
    return {"chain": "\n\n".join(bodies) or NOTHING}
