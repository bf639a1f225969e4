"""What the virtual GPU counted in one run: accesses by width, sectors, wavefronts, FLOP per byte."""
from cells import number, ratio

LOADS, STORES = ("loads", "copies_in"), ("stores", "atomics", "copies_out", "copies_reduce")
SHARED_LOADS, SHARED_STORES = ("loads",), ("stores", "atomics", "copies_in")  # an asynchronous copy stores there
BANKS = "pair"  # the rule for wide shared loads that reports use; see src/lab/model/resources.h


def with_share(count, fma):
    return f"{count:,} ({number(count / fma)})" if count and fma else f"{count:,}"


def products(run):
    """MNK: the multiply-adds that the problem asks for."""
    return run["problem"]["m"] * run["problem"]["n"] * run["problem"]["k"]


def fmas_per_shared_load(run):
    """Useful multiply-adds, those of D, per shared load of a lane: CountSummary::fma_per_shared_load. 0 where
    there are no loads or where tensor cores multiply."""
    return run["counts"]["fma_per_shared_load"]


def requested_intensity(run):
    """FLOP per byte that loads ask global memory for; 0 where generic loads hide it."""
    counts = run["counts"]
    read = sum(int(width[1:]) // 8 * count["thread"]
               for width, count in counts["ld.global"].items())
    return 2 * products(run) / read if read and not counts["ld_st.generic"] else 0


def access_rows(counts, fma):
    """One row for each kind and width of access: issues by warps, how many per multiply."""
    rows = {}
    for kind in ("ld.global", "st.global", "ld.shared", "st.shared", "ld_st.generic"):
        for width, count in counts[kind].items():
            bits = width.removeprefix("b")
            name = {"ld_st.generic": "generic loads and stores"}.get(kind, f"`{kind}`")
            rows[f"{name}, {bits} bits"] = with_share(count["warp"], fma)
    return rows


def sum_of(run, kinds, memory, *path):
    """A count of run["counts"]["memory"], over several kinds of traffic; 0 where there is none."""
    total = 0
    for kind in kinds:
        value = run["counts"]["memory"][kind].get(memory, {})
        for name in path:
            value = value.get(name, 0) if isinstance(value, dict) else 0
        total += value if not isinstance(value, dict) else 0
    return total


def sectors_a_request(run, kinds=LOADS + STORES):
    return ratio(sum_of(run, kinds, "global", "sectors"), sum_of(run, kinds, "global", "requests"))


def excess_wavefronts(run, kinds=LOADS + STORES):
    return sum_of(run, kinds, "shared", BANKS, "excess")


def load_store_wavefronts(run):
    """Of the load/store unit: wavefronts of shared memory, and of global memory in L1."""
    kinds = LOADS + STORES
    return (sum_of(run, kinds, "shared", BANKS, "wavefronts")
            + sum_of(run, kinds, "global", "data_wavefronts"))


def is_wide(run):
    """Whether the two bank rules differ for this kernel's loads."""
    return any(sum_of(run, kinds, "shared", "plain", "wavefronts")
               != sum_of(run, kinds, "shared", "pair", "wavefronts") for kinds in (SHARED_LOADS, SHARED_STORES))


def wavefronts(run, kinds):
    """Wavefronts per request, and in brackets those of the plain rule where it says otherwise."""
    requests = sum_of(run, kinds, "shared", "requests")
    pair, plain = (ratio(sum_of(run, kinds, "shared", rule, "wavefronts"), requests)
                   for rule in (BANKS, "plain"))
    return number(pair) if pair == plain else f"{number(pair)} ({number(plain)})"


def memory_rows(run, multiplies):
    """What the accesses cost, by count: sectors, lines, wavefronts, and FLOP per byte."""
    rows = {}
    for name, kinds in (("loads", LOADS), ("stores", STORES)):
        requests = sum_of(run, kinds, "global", "requests")
        if requests:
            lines = ratio(sum_of(run, kinds, "global", "lines"), requests)
            rows[f"global {name}: sectors, lines per request"] = (
                f"{number(sectors_a_request(run, kinds))}, {number(lines)}")
    for name, kinds in (("loads", SHARED_LOADS), ("stores", SHARED_STORES)):
        if sum_of(run, kinds, "shared", "requests"):
            rows[f"shared {name}: wavefronts per request"] = wavefronts(run, kinds)
            rows[f"shared {name}: excess wavefronts"] = with_share(excess_wavefronts(run, kinds),
                                                                   multiplies)
    w = "" if run["counts"]["matrix"]["warp"] else " (w)"  # the READMEs' wavefronts per FMA
    rows[f"wavefronts of the load/store unit{w}"] = with_share(load_store_wavefronts(run), multiplies)
    per = run["counts"]["flop_per_byte"]
    rows["FLOP per byte: requested, sectors, footprint"] = ", ".join(
        number(per[name]) for name in ("requested", "sector", "footprint"))
    return rows
