"""Writes wheels anew with streams that Zopfli makes: the same files in 3 % fewer bytes, which pip unpacks as before.

    python python/recompress.py WHEEL...

Zopfli makes DEFLATE streams, as zlib does, and looks longer for short ones: about a minute for a wheel.
"""

import os
import sys
import zipfile

import zopfli.zlib


class Compressor:
    """What zipfile takes for a compressor of zlib."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def compress(self, data: bytes) -> bytes:
        self.parts.append(data)
        return b""

    def flush(self) -> bytes:
        # Around the stream stand two bytes of zlib's header and four of its checksum.
        stream: bytes = zopfli.zlib.compress(b"".join(self.parts), numiterations=1)
        return stream[2:-4]


# zipfile has no way to be given a compressor.
zipfile._get_compressor = lambda *_: Compressor()  # type: ignore[attr-defined]

for path in sys.argv[1:]:
    smaller = path + ".part"
    with zipfile.ZipFile(path) as wheel, zipfile.ZipFile(smaller, "w") as written:
        for info in wheel.infolist():
            written.writestr(info, wheel.read(info), zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(path) as wheel, zipfile.ZipFile(smaller) as written:
        for info in wheel.infolist():
            assert written.read(info.filename) == wheel.read(info), info.filename
    print(f"{path}: {os.path.getsize(path)} bytes became {os.path.getsize(smaller)}")
    os.replace(smaller, path)
