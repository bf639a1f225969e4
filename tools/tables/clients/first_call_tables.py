"""First calls for problems of the drawn suite, by parts, without and with a warm-up.

  first_calls  docs/api/first-calls.md   microseconds on the host   results/interface/h?00_first_calls*.json

Made on a GPU (`ninja -C build gpu_first_calls` builds the program):

  build/gpu_first_calls --cells 100 --processes 4 --seed N --json results/interface/h200_first_calls.json
  build/gpu_first_calls --cells 100 --processes 4 --seed N --warm 1 --json results/interface/h200_first_calls_warm.json
"""
import json

from cells import NOTHING, table

# Row of the table -> member of the files. All but "after a warm-up" are of the run without one.
CALLS = {"our first call": "call_us", "the vendor's first call": "vendor_us"}
PARTS = {"plan": "plan_us", "unpack": "unpack_us", "load": "load_us", "tensor maps": "maps_us",
         "entries": "entries_us", "launch": "launch_us"}


def line(name, figures):
    return [name, *(f"{figures[key]:.0f}" for key in ("p50", "p95", "max"))]


def sections(root):
    cold, warm = (root / "results/interface" / f"h200_first_calls{end}.json" for end in ("", "_warm"))
    if not cold.exists() or not warm.exists():
        return {"first_calls": NOTHING}
    cold, warm = json.loads(cold.read_text()), json.loads(warm.read_text())
    rows = [line(name, cold[member]) for name, member in CALLS.items()]
    rows.insert(1, line("our first call after a warm-up", warm["call_us"]))
    rows += [line(f"part: {name}", cold[member]) for name, member in PARTS.items()]
    text = table(["", "median", "95 %", "most"], rows)
    return {"first_calls":
            f"{text}\n\nMicroseconds on the host, {cold['calls']} problems of the drawn suite. The parts are those of a second "
            f"call without a warm-up, whose images are packed again. A warm-up of all {warm['calls'] // 4} problems of a process "
            f"takes {warm['warm_up_ms']['p50']:.0f} ms. Making a handle takes {cold['handle_ms']['p50']:.2f} ms after "
            f"{cold['context_ms']['p50']:.0f} ms of the driver's for its context; the vendor's library and handles take "
            f"{cold['vendor_ms']['p50']:.0f} ms then. {cold['gpu']}, {cold['vendor']}, commit {cold['commit']}."}
