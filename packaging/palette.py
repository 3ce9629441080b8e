#!/usr/bin/env python3
"""Compresses a browser screenshot: a page has few colors, so a palette of 256 is sufficient.

    palette.py PICTURE.png

Needs only Python. Colors are rounded more if there are more of them. The same picture gives the same bytes."""

import struct
import sys
import zlib

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


def with_palette(pixels, bits):
    levels = [rounded(value, bits) for value in range(256)]
    lines = [[(levels[r], levels[g], levels[b]) for r, g, b in line] for line in pixels]
    return lines, sorted({pixel for line in lines for pixel in line})


def chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def main():
    (path,) = sys.argv[1:]
    with open(path, "rb") as file:
        data = file.read()
    parts = list(chunks(data))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    if not data.startswith(SIGNATURE) or depth != 8 or kind not in (2, 6) or interlaced:
        sys.exit(f"{path} is no picture of a browser")
    size = 3 if kind == 2 else 4
    raw = zlib.decompress(b"".join(body for name, body in parts if name == b"IDAT"))
    pixels = [list(zip(row[0::size], row[1::size], row[2::size])) for row in rows(raw, width, height, size)]
    for bits in (6, 5, 4, 3, 2):
        lines, palette = with_palette(pixels, bits)
        if len(palette) <= 256:
            break
    index = {pixel: at for at, pixel in enumerate(palette)}
    packed = b"".join(b"\0" + bytes(index[pixel] for pixel in line) for line in lines)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    colours = b"".join(bytes(pixel) for pixel in palette)
    body = chunk(b"IHDR", header) + chunk(b"PLTE", colours) + chunk(b"IDAT", zlib.compress(packed, 9)) + chunk(b"IEND", b"")
    with open(path, "wb") as file:
        file.write(SIGNATURE + body)


if __name__ == "__main__":
    main()
