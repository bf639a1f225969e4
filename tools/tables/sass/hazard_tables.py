"""What the hazard checker of tessera sass finds in unchanged kernels, and how many edits of them it notices.

  sass_hazards   docs/sass-patching.md   results/sass_hazards.json, by tools/sass_hazards/count.py
"""
import json

from cells import NOTHING, table


def of_all(architectures, key):
    return sum(one[key] for one in architectures.values())


def noticed(edits):
    return f"{edits['noticed']} of {edits['edits']}"


def row(name, one):
    edits = one["edits"]
    return [name, str(one["compiled"]), str(one["kernels"]), str(one["judged"]), str(one["with_objection"]),
            str(one["learned_from_no_repository"]), str(one["learned_from_the_other_half"]),
            noticed(edits["waits"]), noticed(edits["stalls_with_yield"]), noticed(edits["other_stalls"])]


def sections(root):
    path = root / "results/sass_hazards.json"
    if not path.exists():
        return {"sass_hazards": NOTHING}
    stored = json.loads(path.read_text())
    architectures = stored["architectures"]
    text = (f"CUDA {stored['nvcc']} made {of_all(architectures, 'compiled')} kernels of the .cu files of "
            f"{len(stored['repositories'])} public repositories that it compiles as they are, {of_all(architectures, 'kernels')} "
            f"of them different from each other. {of_all(architectures, 'judged')} can be judged, which stand for "
            f"{of_all(architectures, 'judged_with_copies')} of all; the checker objects to "
            f"{of_all(architectures, 'with_objection')} of them. By distances of this repository's own kernels alone it objects "
            f"to {of_all(architectures, 'learned_from_no_repository')}; by these and the half of the repositories that a kernel "
            f"is not from, to {of_all(architectures, 'learned_from_the_other_half')}, which is the share to expect for code "
            "outside of these repositories.")
    kinds = [kind for one in architectures.values() for kind in one["edits"].values()]
    text += (f" {sum(kind['noticed'] for kind in kinds)} of {sum(kind['edits'] for kind in kinds)} edits that drop one wait "
             "or shorten one stall are noticed.")
    header = ["", "kernels", "different", "judged", "objected to", "by own distances", "by the other half's",
              "waits dropped, noticed", "stalls with yield shortened, noticed", "other stalls, noticed"]
    return {"sass_hazards": text + "\n\n" + table(header, [row(*one) for one in architectures.items()])}
