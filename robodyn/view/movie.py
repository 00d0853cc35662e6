"""Files of images and videos."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from robodyn.array_types import Array
from robodyn.errors import MissingExtraError, ShapeError
from robodyn.files import as_path, replacing

__all__ = ["IMAGES", "VIDEOS", "image_path", "video_path", "write_image", "write_video"]

#: Endings of files.
IMAGES, VIDEOS = (".png", ".jpg", ".jpeg"), (".mp4", ".gif")


def image_path(path: str | os.PathLike[str]) -> Path:
    """A path for `write_image`.

    Raises
    ------
    ShapeError
    """
    return _ending(path, IMAGES)


def video_path(path: str | os.PathLike[str]) -> Path:
    """A path for `write_video`.

    Raises
    ------
    ShapeError
    MissingExtraError
        If PyAV is not installed (extra ``view``).
    """
    given = _ending(path, VIDEOS)
    if given.suffix.lower() == ".mp4":
        try:
            import av  # noqa: F401
        except ImportError:
            raise MissingExtraError("av", "view", "writing a video") from None
    return given


def _ending(path: str | os.PathLike[str], known: tuple[str, ...]) -> Path:
    given = as_path("path", path)
    if given.suffix.lower() not in known:
        raise ShapeError(
            f"path ends in {given.suffix!r}, expected {' or '.join(known)}", name="path", given=path
        )
    return given


def write_image(path: Path, image: Array) -> None:
    """Write an image, shape (height, width, 3) of uint8.

    Raises
    ------
    MissingFileError, FileError
    """
    import imageio.v3

    with replacing(path) as unfinished:
        imageio.v3.imwrite(unfinished, image)


def write_video(path: Path, frames: Iterable[Array], rate: float) -> None:
    """Write frames, each of shape (height, width, 3) of uint8 with even sizes, as they come.

    Parameters
    ----------
    path : Path
        ``.mp4`` (H.264) or ``.gif``.
    frames : iterable of ndarray
    rate : float [1/s]

    Raises
    ------
    MissingFileError, FileError
    """
    with replacing(path) as unfinished:
        if path.suffix.lower() == ".gif":
            _write_gif(unfinished, frames, rate)
        else:
            import imageio.v3

            with imageio.v3.imopen(unfinished, "w", plugin="pyav") as video:
                video.init_video_stream("libx264", fps=round(rate))
                for frame in frames:
                    video.write_frame(frame)


def _write_gif(path: Path, frames: Iterable[Array], rate: float) -> None:
    from PIL import Image

    def palettes() -> Iterator[Any]:
        few = Image.Quantize.MAXCOVERAGE  # keeps rare colours, such as those of joints
        for frame in frames:
            yield Image.fromarray(frame).quantize(
                256, method=few, kmeans=1, dither=Image.Dither.NONE
            )

    images = palettes()
    first = next(images)
    pause = max(round(1000.0 / rate), 20)  # browsers slow down GIFs with shorter pauses
    first.save(path, save_all=True, append_images=images, duration=pause, loop=0, optimize=False)
