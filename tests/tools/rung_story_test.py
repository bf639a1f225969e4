"""One story a rung: what its page says at the end is what the counts and the model say in its table, and the small
problem of `make run` says the same as the large one. On tensor cores the small one is bound by something else, which
the page of that ladder says."""
import json
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
# A verdict, and the words that a page has for it.
WORDS = {"scattered global accesses": "global memory", "global accesses": "global memory",
         "integer instructions": "integer instructions", "bank conflicts": "bank conflicts",
         "shared-memory accesses": "shared", "waiting": "waits", "issue slots": "issue slots",
         "L2 traffic": "L2 traffic", "tensor cores": "tensor cores"}
SMALL = re.compile(r"^- ([\w ]+): rungs ((?:\d\d(?:, | and )?)+)\.$", re.M)


def load(name, key):
    return json.loads((ROOT / f"results/ladder/{name}.json").read_text())[key]


def tells(limited_by, page):
    last = page.split("## What limits it now")[1]
    limit = last.split("**Limited by:**")[1].split("\n\n")[0]
    return WORDS[limited_by] in limit or (limited_by == "waiting" and "waiting" in limit)


# What limits a rung, in the words of pages and of comments: the two name one of these in common.
LIMITS = ("lines", "global memory", "integer instructions", "bank conflicts", "shared loads", "shared wavefronts",
          "scalar loads", "waiting", "issue slots", "register ports", "fragment", "single elements", "shared memory",
          "copies")
SAYS = re.compile(r"Rung (\d\d) was limited by (.*?)\.(?:\s|$)")


def agrees(comment, page):
    """Whether the first limit that the comment of the next rung names is one that this page ends with."""
    last = page.split("**Limited by:**")[1].split("\n\n")[0].replace("\n", " ")
    named = sorted((comment.index(limit), limit) for limit in LIMITS if limit in comment)
    return bool(named) and named[0][1] in last.replace("scalar global loads", "scalar loads")


class RungStory(unittest.TestCase):
    def test_the_next_kernel_names_the_same_limit(self):
        said = 0
        for kernel in sorted((ROOT / "src/ladder").glob("*/kernel.cu")):
            head = " ".join(line.removeprefix("//").strip() for line in kernel.read_text().split("#include")[0].split("\n"))
            for number, limit in SAYS.findall(head):
                said += 1
                page = next((ROOT / "src/ladder").glob(f"{number}_*/README.md")).read_text()
                self.assertTrue(agrees(limit, page), f"{kernel.parent.name}: rung {number} was limited by {limit}")
        self.assertGreater(said, 15)

    def test_a_comment_of_another_limit_is_found(self):
        page = "**Limited by:** shared wavefronts: 4 per FMA.\n\nNext."
        self.assertTrue(agrees("shared wavefronts: two loads", page))
        self.assertFalse(agrees("issue slots: two shared wavefronts", page))

    def test_the_page_ends_with_the_verdict(self):
        told = set()
        for explanation in load("ladder_explained", "explained"):
            kernel = explanation["kernel"]
            if kernel in told:
                continue  # a variant
            told.add(kernel)
            page = (ROOT / f"src/ladder/{kernel}/README.md").read_text()
            self.assertTrue(tells(explanation["limited_by"], page), f"{kernel}: {explanation['limited_by']}")
        rungs = {page.parent.name for page in (ROOT / "src/ladder").glob("*/README.md")}
        self.assertEqual(told, rungs)

    def test_small_and_large_agree(self):
        large = {(e["kernel"], e["config"]): e["limited_by"] for e in load("ladder_explained", "explained")}
        compared, others = 0, {}
        for run in load("ladder_counts", "runs"):
            name = (run["kernel"], run["config"])
            if name not in large or not run["limited_by"]:
                continue
            compared += 1
            if run["limited_by"] != large[name]:
                others.setdefault(run["limited_by"], set()).add(name[0][:2])
        self.assertGreater(compared, 40)
        told = {words: set(rungs.replace("and", ",").replace(" ", "").split(","))
                for words, rungs in SMALL.findall((ROOT / "docs/tensor-ladder.md").read_text())}
        self.assertEqual(others, told, "docs/tensor-ladder.md says which small verdicts differ")

    def test_nothing_is_unknown(self):
        for explanation in load("ladder_explained", "explained"):
            self.assertNotIn(explanation["limited_by"], ("unknown", "", None), explanation["kernel"])

    def test_another_story_is_found(self):
        page = "## What limits it now\n\n**Limited by:** requests, and nothing else.\n\nGlobal memory comes next.\n"
        self.assertFalse(tells("global accesses", page))
        self.assertTrue(tells("waiting", page.replace("requests", "waiting")))


if __name__ == "__main__":
    unittest.main()
