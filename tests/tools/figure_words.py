"""What the words beside a figure say of the runs that it belongs to: sizes, types, layouts. Read by figures_test.py."""
import re

TIME = {"ms": 1, "milliseconds": 1, "us": 1e-3, "µs": 1e-3, "microseconds": 1e-3, "ns": 1e-6, "nanoseconds": 1e-6,
        "s": 1e3, "seconds": 1e3, "second": 1e3, "CPU-seconds": 1e3, "minutes": 6e4, "hours": 3.6e6}  # in ms
SPEED = {"TFLOP/s": 1, "TFLOPS": 1, "GFLOP/s": 1e-3, "GFLOPS": 1e-3}  # in TFLOP/s
OTHER = {"TFLOP": 1, "GFLOP": 1, "J/TFLOP": 1, "joules": 1, "J": 1, "W": 1, "GB/s": 1, "TB/s": 1, "GiB/s": 1, "KB": 1, "MB": 1,
         "GB": 1, "KiB": 1, "MiB": 1, "GiB": 1, "cycles": 1, "times": 1, "%": 1}
POWER = {"W", "J", "joules", "J/TFLOP"}
UNITS = "|".join(sorted(map(re.escape, [*TIME, *SPEED, *OTHER]), key=len, reverse=True))
NUMBER = r"\d(?:[\d,]*\d)?(?:\.\d+)?"
# Several numbers may share a unit: "10 or 28 us", "26 to 41 ms".
MEASURED = re.compile(rf"(?<![\w.^/-])({NUMBER}(?:(?:, | to | or | and | instead of |-){NUMBER})*)[ -]?({UNITS})(?![\w/])")
SHAPE = re.compile(r"(?<![\w.])(\d+) ?x ?(\d+) ?x ?(\d+)(?!\w)")
SQUARE = re.compile(r"(?<![\w.,/x-])(\d{3,5})(?![\w%]|[.,/-]\w| ?(?:x \d|(?:[BT]?FP?\d+ )?products|of |" + UNITS + r"))")
TYPES = {"FP64": "f64", "FP32": "f32", "TF32": "tf32", "BF16": "bf16", "FP16": "f16"}
LAYOUT = re.compile(r"\b(NN|NT|TN|TT)\b")


def name_of_type(problem):
    """A word, or of operands of several types all words, joined."""
    of_problem = problem.get("type")
    return ",".join(of_problem.values()) if isinstance(of_problem, dict) else of_problem


class Named:
    """What words say of the runs that figures beside them belong to; an empty set says nothing."""

    def __init__(self, words="", known=frozenset()):
        words = re.sub(r"`[^`]*`|\]\([^)]*\)", "", words)
        shapes = {tuple(map(int, shape)) for shape in SHAPE.findall(words)}
        squares = {(int(size),) * 3 for size in SQUARE.findall(SHAPE.sub(" ", words))}
        # Other triples of small numbers are tiles, other numbers are no sizes.
        self.sizes = frozenset({shape for shape in shapes if shape in known or max(shape) > 256} | (squares & known))
        self.types = frozenset(stored for word, stored in TYPES.items() if word in words)
        self.layouts = frozenset(LAYOUT.findall(words))

    def otherwise(self, before):
        """With the sizes and types named before, where it names none."""
        both = Named()
        both.sizes, both.types, both.layouts = self.sizes or before.sizes, self.types or before.types, self.layouts
        return both

    def is_of(self, problem):
        """Whether a run's problem is one of those."""
        size = tuple(problem.get(extent) for extent in "mnk")
        return ((not self.sizes or size in self.sizes) and (not self.types or name_of_type(problem) in self.types) and
                (not self.layouts or problem["layout"] in self.layouts))

    def is_of_row(self, row, known):
        """Whether a row of a table is of one of those, or says nothing."""
        there = Named(row, known)
        return all(not here or not of_row or here & of_row
                   for here, of_row in ((self.sizes, there.sizes), (self.types, there.types)))


def halves_of(clause, known):
    """"0.9 in NN at 4096" and "0.8 at 8192", where both name something."""
    left, both, right = clause.partition(" and ")
    named = [Named(half, known) for half in (left, right)]
    if both and re.match(r"[\d.]+ ", right) and all(half.sizes or half.layouts for half in named):
        return [left, right]
    return [clause]


def clauses_of(paragraph, known):
    """Each clause, and what is named for it."""
    text = " ".join(paragraph.split())
    if text.startswith("|"):
        return [(text, Named(text, known))]
    text = MEASURED.sub(lambda found: found[0].replace(", ", ",\0"), text)  # "10, 20 or 30 us" is of one clause
    lead = Named((re.match(r"(?:- |\d+\. )?\*\*[^*]*\*\*", text) or [""])[0], known)
    found = []
    for sentence in re.split(r"(?<=[.?!]) (?=[A-Z*`0-9])", text):
        clauses = [part for clause in re.split(r"(?<=[;,]) ", sentence) for part in halves_of(clause, known)]
        own = [Named(clause, known) for clause in clauses]
        named = lead
        for later in reversed(own):  # words ahead of the first size: "0.9, 0.8 and 0.7 at 4096"
            named = later.otherwise(named)
        for clause, here in zip(clauses, own):
            named = here.otherwise(named)
            found.append((clause.replace(",\0", ", "), named))
    return found
