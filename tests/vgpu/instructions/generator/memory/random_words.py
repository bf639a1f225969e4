"""Random words for loads and stores. One generator serves both files: their order is part of the tests."""

import random

RNG = random.Random(400)


def words(count, bits):
    return [RNG.getrandbits(bits) for _ in range(count)]
