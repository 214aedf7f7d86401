"""Writes testdata/stream.toml: blocks of both random streams and Gaussian numbers of the processors' one. Needs mpmath.

AES rounds are computed from their definition (FIPS 197) in the field of 256 elements, Philox from its own; nothing here is taken over from
the program. Keys are the bytes 0, 1, 2, ... of a setting's hash, each plus `first`.
"""
from pathlib import Path

from mpmath import erfc, findroot, log, mp, mpf, sqrt

mp.dps = 40
NOISE, TAIL = 0, 1


def times(a, b):
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


def substituted(byte):
    inverse = next((x for x in range(256) if times(byte, x) == 1), 0)
    turned = inverse
    for _ in range(4):
        inverse = (inverse << 1 | inverse >> 7) & 0xFF
        turned ^= inverse
    return turned ^ 0x63


BOX = [substituted(byte) for byte in range(256)]


def aes_round(state, key, last):
    """State and key as sixteen bytes, least significant first; the bytes are a column-major square of four by four."""
    state = [BOX[byte] for byte in state]
    state = [state[(4 * (column + row) + row) % 16] for column in range(4) for row in range(4)]
    if not last:
        mixed = []
        for column in range(4):
            s = state[4 * column : 4 * column + 4]
            mixed += [times(2, s[r]) ^ times(3, s[(r + 1) % 4]) ^ s[(r + 2) % 4] ^ s[(r + 3) % 4] for r in range(4)]
        state = mixed
    return bytes(a ^ b for a, b in zip(state, key))


def ars5(first, counter):
    low, high = (int.from_bytes(bytes(first + at + i for i in range(8)), "little") for at in (0, 8))
    keys = []
    for _ in range(6):
        keys.append((low | high << 64).to_bytes(16, "little"))
        low = (low + 0x9E3779B97F4A7C15) % 2**64
        high = (high + 0xBB67AE8584CAA73B) % 2**64
    state = bytes(a ^ b for a, b in zip(counter.to_bytes(16, "little"), keys[0]))
    for i in range(1, 6):
        state = aes_round(state, keys[i], i == 5)
    return int.from_bytes(state, "little")


def philox(first, counter):
    k0, k1 = (int.from_bytes(bytes(first + at + i for i in range(4)), "little") for at in (0, 4))
    c = [counter >> 32 * i & 0xFFFFFFFF for i in range(4)]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k0, b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k1, a & 0xFFFFFFFF]
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return sum(word << 32 * i for i, word in enumerate(c))


def counter(purpose, world, index, draw):
    return index | draw << 64 | purpose << 96 | world << 104


def quantile(p):
    guess = -sqrt(-2 * log(p)) if p < 0.1 else p - mpf(1) / 2
    return findroot(lambda x: log(erfc(-x / sqrt(2)) / 2) - log(p), guess)


def gaussian(first, world, trial, draw):
    word = ars5(first, counter(NOISE, world, trial // 4, draw)) >> 32 * (trial % 4) & 0xFFFFFFFF
    magnitude = word >> 5 << 4 | word & 0xF
    fraction = mpf(1) / 2
    if magnitude < 1 << 15:
        more = ars5(first, counter(TAIL, world, trial, draw)) & 2**64 - 1
        fraction = (mpf(more) + mpf(1) / 2) / mpf(2) ** 64
    z = quantile((magnitude + fraction) / mpf(2) ** 32)
    return (-z if word & 0x10 else z), magnitude < 1 << 15


def main():
    counters = [counter(p, w, i, d) for p, w, i, d in [(0, 0, 0, 0), (0, 1, 1, 7), (2, 0, 2**40, 99), (9, 1, 2**64 - 1, 2**32 - 1)]]
    with open(Path(__file__).parent.parent / "stream.toml", "w") as out:
        out.write("# written by scripts/stream.py: AES and Philox from their definitions, quantiles by mpmath with 40 digits\n")
        for name, function in [("ars5", ars5), ("philox", philox)]:
            out.write(f"# the first byte of the key, the counter, the block\n{name} = [\n")
            for first in (0, 100):
                for c in counters:
                    out.write(f'  [{first}, "{c:032x}", "{function(first, c):032x}"],\n')
            out.write("]\n")
        # Some draws of the body, and the first few that fall into the tail.
        found = [(t, d) for t in range(3) for d in range(3)]
        trial, tails = 0, 0
        while tails < 3:
            word = ars5(0, counter(NOISE, 0, trial // 4, 0)) >> 32 * (trial % 4) & 0xFFFFFFFF
            if word >> 5 << 4 < 1 << 15:
                found.append((trial, 0))
                tails += 1
            trial += 1
        out.write("# key bytes from 0, world In: trial, draw, the Gaussian number\ngaussian = [\n")
        for trial, draw in found:
            out.write(f"  [{trial}, {draw}, {mp.nstr(gaussian(0, 0, trial, draw)[0], 20)}],\n")
        out.write("]\n")


main()
