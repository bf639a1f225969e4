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


class RungStory(unittest.TestCase):
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
