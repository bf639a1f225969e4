"""Why a product is computed as it is."""
from __future__ import annotations

import dataclasses

from . import _library as c

_WHERE = ("GPU", "GPU, copied by panels from host memory", "CPU")
_BOUNDS = ("arithmetic", "device memory", "launches, start and end", "host memory")


@dataclasses.dataclass(frozen=True)
class Choice:
    """One way to compute a product; times are microseconds predicted by the model."""
    kernel: str
    decision: str
    total_us: float
    workspace_bytes: int
    bound: str
    plan: str  # what Plan(..., kernel=) takes to plan the same


@dataclasses.dataclass(frozen=True)
class Explanation:
    """The choice taken, the slower ones, and what would make a faster one possible."""
    where: str
    kernel: str
    total_us: float
    workspace_bytes: int
    bound: str
    launches: int
    deterministic: bool
    folded: int  # products of a batch that are multiplied as one; 0: none
    faster_us: float
    why_not: str
    choices: tuple[Choice, ...]

    def __str__(self) -> str:
        if self.where == "CPU":
            return f"{self.kernel}, on the CPU"
        lines = [f"{self.kernel}: {self.total_us:.1f} us by the model, bound by {self.bound}, "
                 f"workspace {self.workspace_bytes} bytes, on the {self.where}"]
        lines += [f"folded: the batch of {self.folded} is one product"] if self.folded else []
        lines += [f"instead of {one.kernel}: {one.total_us:.1f} us" for one in self.choices[1:4]]
        return "\n".join(lines + ([f"faster: {self.why_not}"] if self.why_not else []))


def explain_problem(handle: int, problem: c.Problem,
                    options: c.PlanOptions | None = None) -> Explanation:
    out = c.Explanation()
    c.check(c.lib.tessera_explain(handle, problem, options, out, None, 0))
    found = (c.Choice * max(out.choices, 1))()
    found[0].size = c.ctypes.sizeof(c.Choice)
    c.check(c.lib.tessera_explain(handle, problem, options, out, found, out.choices))
    choices = tuple(Choice(one.kernel.decode(), one.decision.decode(), one.total_us,
                           one.workspace_bytes, _BOUNDS[one.bound], one.plan.decode())
                    for one in found[:out.choices])
    return Explanation(_WHERE[out.where], out.kernel.decode(), out.total_us, out.workspace_bytes,
                       _BOUNDS[out.bound], out.launches, bool(out.deterministic), out.folded,
                       out.faster_us, out.why_not.decode(), choices)
