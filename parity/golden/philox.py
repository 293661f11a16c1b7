"""Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC11), vectorised.

Words are in uint64 arrays, which hold products of 32 x 32 bits.
"""

import numpy as np

_MASK = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10


def philox(counter, key):
    """The four output words for the four counter words (arrays or integers) and two key words (integers)."""
    c0, c1, c2, c3 = np.broadcast_arrays(*(np.atleast_1d(np.asarray(word, dtype=np.uint64)) for word in counter))
    k0, k1 = key
    for _ in range(_ROUNDS):
        p0 = c0 * _MULTIPLIERS[0]
        p1 = c2 * _MULTIPLIERS[1]
        c0, c1, c2, c3 = ((p1 >> _SHIFT) ^ c1 ^ np.uint64(k0), p1 & _MASK,
                          (p0 >> _SHIFT) ^ c3 ^ np.uint64(k1), p0 & _MASK)
        k0 = (k0 + _WEYL[0]) & 0xFFFFFFFF
        k1 = (k1 + _WEYL[1]) & 0xFFFFFFFF
    return c0, c1, c2, c3


def words(seed, count):
    """The words w0..w3 of elements 0 to count - 1, with the counters and keys of README.md."""
    index = np.arange(count, dtype=np.uint64)
    return philox((index & _MASK, index >> _SHIFT, 0, 0), (seed & 0xFFFFFFFF, seed >> 32))


def uniform(seed, count, scale, shift):
    w0 = words(seed, count)[0].astype(np.float64)
    return shift + scale * (w0 * 2.0**-32 * 2.0 - 1.0)


def bell(seed, count, scale, shift):
    w0, w1, w2, w3 = (w.astype(np.float64) * 2.0**-32 for w in words(seed, count))
    return shift + scale * ((w0 + w1 + w2 + w3 - 2.0) * 1.7320508075688772)


def constant(seed, count, scale, shift):
    del seed, scale
    return np.full(count, shift, dtype=np.float64)


def bits(seed, count):
    """64 random bits. An integer dtype uses its number of low bits."""
    w0, w1, _, _ = words(seed, count)
    return w0 | w1 << _SHIFT


def index(seed, count, bound):
    """Integers in [0, bound), bound at most 2^32."""
    return (words(seed, count)[0] * np.uint64(bound)) >> _SHIFT


GENERATORS = {"uniform": uniform, "bell": bell, "constant": constant}
