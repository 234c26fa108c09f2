"""Files that appear whole, or not at all."""

from __future__ import annotations

import os
import stat


def write_atomic(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Writes a file, text as UTF-8. If that fails, an older file at `path` stays as it was, and nothing else is left behind.

    A path that is not a regular file, such as a pipe or `/dev/stdout`, is written to directly. Raises `OSError`.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    # The name of an open stream may lead to a file, which must not be replaced.
    is_stream = os.path.abspath(path).startswith(("/dev/", "/proc/"))
    if is_stream or (old is not None and not stat.S_ISREG(old.st_mode)):
        with open(path, "wb") as file:
            file.write(data)
        return
    target = os.path.realpath(path)  # a link stays a link
    part = os.path.join(os.path.dirname(target), f".laneval-{os.urandom(8).hex()}.part")
    try:
        # With the permissions of any new file, which depend on the umask.
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if old is not None:
            os.chmod(part, stat.S_IMODE(old.st_mode))
        os.replace(part, target)
    except BaseException:
        os.unlink(part)
        raise
