"""Arrays of any library, as objects with a buffer."""

from __future__ import annotations

from typing import Any


def borrow(array: Any) -> tuple[Any, bool]:
    """An object with a buffer of the same numbers, without a copy if possible, and whether it has the bits of bfloat16."""
    if getattr(array, "mask", None) is not None and hasattr(array, "filled"):
        raise TypeError(f"{type(array)} hides some of its values: an array of all values was expected, as `filled(-1)` makes one")
    kind = str(getattr(array, "dtype", ""))
    if kind.endswith("bfloat16"):
        return _bits(array), True
    try:
        memoryview(array).release()
    except (TypeError, ValueError, BufferError):
        return _numpy(array), False
    return array, False


def _bits(array: Any) -> Any:
    """The bits of bfloat16 as integers of 16 bits."""
    import numpy as np

    if hasattr(array, "detach"):  # torch
        import torch

        return array.detach().cpu().contiguous().view(torch.uint16).numpy()
    return np.asarray(array).view(np.uint16)


def _numpy(array: Any) -> Any:
    """An array of NumPy."""
    if isinstance(array, (str, bytes, dict)) or array is None:
        raise TypeError(f"{type(array)}: an array of numbers was expected")
    if hasattr(array, "detach"):  # torch
        return array.detach().cpu().numpy()
    try:
        import numpy as np
    except ImportError:
        raise TypeError(f"{type(array)}: an array with a buffer was expected, or NumPy for others") from None
    made = np.asarray(array)
    if made.dtype.kind not in "biuf":
        raise TypeError(f"{type(array)} has values of type {made.dtype}: numbers were expected")
    return made
