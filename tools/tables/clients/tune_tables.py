"""What tessera tune gained for a program's calls.

  tune   docs/api/tuning.md   before and after, by call   results/tune/h100_own_calls.json

Made on a GPU: tools/tune/before_and_after.py.
"""
import json
import math
from statistics import median

from cells import NOTHING, table


def words_of(call):
    """'BF16 NT, 8 x 6144 x 4096' of the text of a call."""
    of = dict(word.split("=", 1) for word in call.split(" "))
    many = f"{of['batch']} x " if "batch" in of else ""
    epilogue = f", {of['epilogue'].replace('+', ' and ')}" if "epilogue" in of else ""
    beta = ", beta 1" if of["beta"] != "0" else ""
    return f"{of['type'].upper()} {of['layout']} {of['order']}, {many}{of['m']} x {of['n']} x {of['k']}{epilogue}{beta}"


def kernel_of(plan):
    return plan.split(":")[0]


def line(call):
    before, after = median(call["before_us"]), median(call["after_us"])
    same = call["taken"] == call["by_model"]
    taken = "the same" if same else f"`{kernel_of(call['taken'])}`"
    gain = f"{before / after:.3f}"
    return [call["name"], words_of(call["call"]), f"`{kernel_of(call['by_model'])}`", taken, f"{before:.1f}", f"{after:.1f}",
            gain if same else f"**{gain}**"]


def sections(root):
    path = root / "results/tune/h100_own_calls.json"
    if not path.exists():
        return {"tune": NOTHING}
    file = json.loads(path.read_text())
    calls = [call for call in file["calls"] if not call["reason"]]
    gains = [median(call["before_us"]) / median(call["after_us"]) for call in calls]
    mean = math.exp(sum(map(math.log, gains)) / len(gains))
    changed = sum(call["taken"] != call["by_model"] for call in calls)
    rounds = len(calls[0]["before_us"])
    text = table(["call", "problem", "the model's choice", "tuned", "before", "after", "x"], map(line, calls))
    return {"tune": f"{text}\n\nMicroseconds a call: medians of {rounds} runs of the program without an overlay and {rounds} with it, in "
                    f"turn. In bold where the plan is another one: {changed} of {len(calls)}. Geometric mean of all: {mean:.3f}, lowest "
                    f"{min(gains):.3f}. {file['gpu']}, driver {file['driver']}, commit {file['library']}, `{path.relative_to(root)}`."}
