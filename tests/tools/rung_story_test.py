"""One story a rung: what its page says at the end is what the counts and the model say in its table, and the small
problem of `make run` says the same as the large one."""
import json
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
            if kernel in told or not explanation["predicted"]:
                continue  # a variant; or a bound alone, which a measurement may exceed
            told.add(kernel)
            page = (ROOT / f"src/ladder/{kernel}/README.md").read_text()
            self.assertTrue(tells(explanation["limited_by"], page), f"{kernel}: {explanation['limited_by']}")
        self.assertGreater(len(told), 20)

    def test_small_and_large_agree(self):
        large = {(e["kernel"], e["config"]): e["limited_by"] for e in load("ladder_explained", "explained")
                 if e["predicted"]}
        compared = 0
        for run in load("ladder_counts", "runs"):
            name = (run["kernel"], run["config"])
            if name in large and run["limited_by"]:
                self.assertEqual(run["limited_by"], large[name], name)
                compared += 1
        self.assertGreater(compared, 40)

    def test_nothing_is_unknown(self):
        for explanation in load("ladder_explained", "explained"):
            self.assertNotIn(explanation["limited_by"], ("unknown", "", None), explanation["kernel"])

    def test_another_story_is_found(self):
        page = "## What limits it now\n\n**Limited by:** requests, and nothing else.\n\nGlobal memory comes next.\n"
        self.assertFalse(tells("global accesses", page))
        self.assertTrue(tells("waiting", page.replace("requests", "waiting")))


if __name__ == "__main__":
    unittest.main()
