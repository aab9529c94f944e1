"""Decoded pictures: read by FFmpeg, told apart by the counter, compared with what was drawn."""

import subprocess

import numpy

from .processes import Failure

#: Weights of red, green and blue, and what they are added to: ITU-T H.273, tables 4 (matrix) and 3 (range).
MATRICES = {
    "601": ((0.299, 0.587, 0.114), 219 / 255, 16),
    "709": ((0.2126, 0.7152, 0.0722), 219 / 255, 16),
    "601 full": ((0.299, 0.587, 0.114), 1, 0),
    "709 full": ((0.2126, 0.7152, 0.0722), 1, 0),
}


def decode(path, size):
    """The luma of each picture of a stream, in order: arrays of height x width."""
    for planes in decode_planes(path, size):
        yield planes[0]


def decode_planes(path, size):
    """Y, Cb and Cr of each picture of a stream, in order: arrays of rows and columns."""
    width, height = size
    command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-threads", "1", "-f", "h264", "-i", path, "-vsync",
               "passthrough", "-f", "rawvideo", "-"]
    probe = subprocess.run(
        ["ffprobe", "-loglevel", "error", "-f", "h264", "-select_streams", "v", "-show_entries",
         "stream=width,height,pix_fmt", "-of", "csv=p=0", path], stdout=subprocess.PIPE, timeout=30)
    words = probe.stdout.decode().strip().split(",")
    if words[:2] != [str(width), str(height)]:
        raise Failure("the stream's pictures are %s and not %dx%d" % ("x".join(words[:2]), width, height))
    # yuvj420p is yuv420p with the full range.
    chroma = (height, width) if "444" in words[2] else ((height + 1) // 2, (width + 1) // 2)
    shapes = [(height, width), chroma, chroma]
    picture = sum(rows * columns for rows, columns in shapes)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, bufsize=1 << 20) as child:
        try:
            while True:
                data = child.stdout.read(picture)
                if len(data) < picture:
                    return
                planes, start = [], 0
                for rows, columns in shapes:
                    plane = numpy.frombuffer(data, numpy.uint8, rows * columns, start)
                    planes.append(plane.reshape(rows, columns))
                    start += plane.size
                yield planes
        finally:
            child.kill()


def luma_of(picture, matrix):
    """The luma that an exact picture has in a matrix of MATRICES, rounded to 8 bits."""
    weights, scale, offset = MATRICES[matrix]
    luma = picture.astype(numpy.float32) @ (numpy.array(weights, numpy.float32) * numpy.float32(scale))
    return (luma + (offset + 0.5)).astype(numpy.uint8)


def chroma_of(picture, matrix):
    """Cb and Cr in 4:2:0 of an exact picture with even sides: the mean of each 2x2 pixels, rounded to 8 bits."""
    weights, scale, _ = MATRICES[matrix]
    height, width = picture.shape[0] // 2, picture.shape[1] // 2
    colours = picture.reshape(height, 2, width, 2, 3).mean(axis=(1, 3), dtype=numpy.float32)
    luma = colours @ numpy.array(weights, numpy.float32)
    # Luma has 219 steps in the limited range, and chroma 224.
    extent = 1 if scale == 1 else 224 / 255
    return [numpy.minimum((colours[:, :, part] - luma) * (extent / 2 / (1 - weights[part])) + 128.5, 255)
            .astype(numpy.uint8) for part in (2, 0)]


def counter(luma):
    """What the scene's counter shows; None where it isn't clear."""
    value = 0
    for bit in range(16):
        above = luma[4:12, bit * 16 + 4:bit * 16 + 12].mean()
        below = luma[20:28, bit * 16 + 4:bit * 16 + 12].mean()
        if abs(above - below) < 70:
            return None
        value = value << 1 | int(above > below)
    return value


def masked(luma, exact, area):
    """`luma` with the exact picture in `area`, where a pointer may be drawn."""
    x, y, width, height = area
    copy = luma.copy()
    copy[y:y + height, x:x + width] = exact[y:y + height, x:x + width]
    return copy


def psnr(luma, exact):
    """In dB; 99 where nothing differs."""
    difference = luma.astype(numpy.float32) - exact
    error = float(numpy.mean(difference * difference, dtype=numpy.float64))
    return 99.0 if error == 0 else min(99.0, float(10 * numpy.log10(255 * 255 / error)))


def ssim(luma, exact):
    """The mean over windows of 8x8 at every fourth pixel, as x264 and FFmpeg count it."""
    height, width = luma.shape[0] // 4 * 4, luma.shape[1] // 4 * 4

    def sums(values):
        blocks = values.reshape(height // 4, 4, width // 4, 4).sum(axis=(1, 3), dtype=numpy.float32)
        return blocks[:-1, :-1] + blocks[1:, :-1] + blocks[:-1, 1:] + blocks[1:, 1:]

    a = luma[:height, :width].astype(numpy.float32)
    b = exact[:height, :width].astype(numpy.float32)
    sum_a, sum_b = sums(a), sums(b)
    squares, products = sums(a * a + b * b), sums(a * b)
    variances = squares * 64 - sum_a * sum_a - sum_b * sum_b
    covariance = products * 64 - sum_a * sum_b
    c1 = 0.01 * 0.01 * 255 * 255 * 64
    c2 = 0.03 * 0.03 * 255 * 255 * 64 * 63
    values = ((2 * sum_a * sum_b + c1) * (2 * covariance + c2)
              / ((sum_a * sum_a + sum_b * sum_b + c1) * (variances + c2)))
    return float(values.mean(dtype=numpy.float64))
