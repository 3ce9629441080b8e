#!/usr/bin/env python3
"""Compresses a browser screenshot: a page has few colors, so a palette of 256 is sufficient.

    palette.py PICTURE.png

Needs only Python. The most frequent colors stay; the others are rounded more if there are more of them. The same picture gives the same bytes."""

import struct
import sys
import zlib
from collections import Counter

# The most frequent colors, which stay as they are.
EXACT = 64

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunks(data):
    at = len(SIGNATURE)
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += length + 12


def predicted(kind, left, up, corner):
    if kind == 1:
        return left
    if kind == 2:
        return up
    if kind == 3:
        return (left + up) // 2
    estimate = left + up - corner
    # The nearest of the three; if several are equal, the first.
    return min((left, up, corner), key=lambda it: abs(estimate - it))


def rows(raw, width, height, size):
    """Returns the bytes of each row after undoing the PNG filters."""
    stride = width * size
    before = bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        kind, row = raw[start], bytearray(raw[start + 1 : start + 1 + stride])
        if kind:
            for x in range(stride):
                left = row[x - size] if x >= size else 0
                corner = before[x - size] if x >= size else 0
                row[x] = (row[x] + predicted(kind, left, before[x], corner)) & 255
        yield row
        before = row


def rounded(value, bits):
    """Rounds to this many bits, and keeps black and white."""
    most = (1 << bits) - 1
    return (value * most + 127) // 255 * 255 // most


def with_palette(lines, bits):
    """Returns the new value of each color. Areas of one color keep it; the colors of blurred edges are rounded."""
    counts = Counter(pixel for line in lines for pixel in line)
    frequent = sorted(counts, key=lambda pixel: (-counts[pixel], pixel))[:EXACT]
    values = {pixel: tuple(rounded(value, bits) for value in pixel) for pixel in counts}
    return values | {pixel: pixel for pixel in frequent}


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def main():
    (path,) = sys.argv[1:]
    with open(path, "rb") as file:
        data = file.read()
    parts = list(chunks(data))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    if not data.startswith(SIGNATURE) or depth != 8 or kind not in (2, 6) or interlaced:
        sys.exit(f"{path} is not a picture of a browser")
    size = 3 if kind == 2 else 4
    raw = zlib.decompress(b"".join(body for name, body in parts if name == b"IDAT"))
    pixels = [list(zip(row[0::size], row[1::size], row[2::size])) for row in rows(raw, width, height, size)]
    for bits in (6, 5, 4, 3, 2):
        values = with_palette(pixels, bits)
        palette = sorted(set(values.values()))
        if len(palette) <= 256:
            break
    places = {color: at for at, color in enumerate(palette)}
    index = {pixel: places[color] for pixel, color in values.items()}
    packed = b"".join(b"\0" + bytes(index[pixel] for pixel in line) for line in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    colors = b"".join(bytes(pixel) for pixel in palette)
    body = chunk(b"IHDR", header) + chunk(b"PLTE", colors) + chunk(b"IDAT", zlib.compress(packed, 9)) + chunk(b"IEND", b"")
    with open(path, "wb") as file:
        file.write(SIGNATURE + body)


if __name__ == "__main__":
    main()
