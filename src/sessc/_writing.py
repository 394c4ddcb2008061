"""Files written whole or not at all, whoever else writes them and whatever goes wrong."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

__all__ = ["refuse_unwritable", "write"]

OPEN = {"/dev/stdin": "0", "/dev/stdout": "1", "/dev/stderr": "2"}
OPEN_FOLDERS = ("/dev/fd/", "/proc/self/fd/")
"""Names of what is open already; a file that stands behind one must stay the same file."""


def write(path: str | os.PathLike, content: str | bytes) -> None:
    """Put content in the place of a file, or leave everything as it was.

    It is written beside the file and renamed. The file keeps its permissions; links and pipes stay what they are.
    """
    data = content if isinstance(content, bytes) else _encoded(path, content)
    try:
        found = _found(path)
        if _is_stream(path, found):
            _pour(path, data)
        else:
            _replace(Path(os.path.realpath(path)), data, found)
    except OSError as error:
        raise _about(path, error) from error


def _pour(path: str | os.PathLike, data: bytes) -> None:
    """Write to what is there, where it is: at the end of what stands in it, if it is open already."""
    number = _descriptor(path)
    if number is None:
        descriptor = os.open(path, os.O_WRONLY)
    else:
        for stream in (sys.stdout, sys.stderr):  # what was said before stands before it
            if stream is not None:
                stream.flush()
        descriptor = os.dup(number)
    with open(descriptor, "wb") as file:
        file.write(data)


def _descriptor(path: str | os.PathLike) -> int | None:
    """The number of what is open already under this name; None if it is the name of something else."""
    name = os.path.abspath(path)
    number = OPEN.get(name) or next((name[len(f) :] for f in OPEN_FOLDERS if name.startswith(f)), "")
    return int(number) if number.isdigit() else None


def refuse_unwritable(path: str | os.PathLike) -> None:
    """Raise the OSError that writing a file would, and leave everything as it was."""
    try:
        found = _found(path)
        if not _is_stream(path, found):
            with _beside(Path(os.path.realpath(path))) as beside:
                _fill(beside, b"", found)
    except OSError as error:
        raise _about(path, error) from error


def _encoded(path: str | os.PathLike, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        around = text[max(error.start - 10, 0) : error.end]
        raise ValueError(
            f"{os.fspath(path)} cannot be written: {text[error.start]!r} in {around!r} is no letter; "
            "rename what has it in its name."
        ) from None


def _found(path: str | os.PathLike) -> os.stat_result | None:
    """What is at the end of a path and its links, if anything is; refuses what could not be opened to write."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    # Renaming would replace a folder's or a protected file's name without asking.
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return found


def _is_stream(path: str | os.PathLike, found: os.stat_result | None) -> bool:
    """Whether there is nothing that could be replaced: a pipe, a device, or what is open already."""
    return found is not None and (_descriptor(path) is not None or not stat.S_ISREG(found.st_mode))


def _replace(target: Path, data: bytes, found: os.stat_result | None) -> None:
    with _beside(target) as beside:
        _fill(beside, data, found)
        os.replace(beside, target)
    with suppress(OSError):  # not every system can open a folder
        _settle_folder(target.parent)


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A name in the same folder, hence on the same file system, that is free again afterwards."""
    path = target.with_name(f".sessc-{token_hex(8)}")  # the target's own may be as long as names can be
    try:
        yield path
    finally:
        with suppress(OSError):
            path.unlink()


def _fill(path: Path, data: bytes, like: os.stat_result | None) -> None:
    with path.open("xb") as file:
        if like is not None:
            _allow_the_same(file.fileno(), path, like)
        file.write(data)
        file.flush()
        _settle(file.fileno())


def _allow_the_same(descriptor: int, path: Path, like: os.stat_result) -> None:
    if hasattr(os, "fchown"):
        with suppress(OSError):  # only root may give files away
            os.fchown(descriptor, like.st_uid, like.st_gid)
    path.chmod(stat.S_IMODE(like.st_mode))


def _settle(descriptor: int) -> None:
    """Wait until the disk has it, where the file system can tell."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
            raise


def _settle_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _about(path: str | os.PathLike, error: OSError) -> OSError:
    """The error with the name that was asked for; where none, or that of a file beside it, would stand."""
    return OSError(error.errno, error.strerror, os.fspath(path))
