"""What the capture process has to reach; every limit is here and nowhere else."""

#: How many times less CPU time than each peer, by scene, and what we would like to reach against FFmpeg.
CPU_RATIO = {
    "ffmpeg": {"idle": 100, "pointer": 50, "typing": 8, "scroll": 2.2, "drag": 2.4, "video": 2.2, "full": 1.4},
    "pixelflux": {"idle": 5, "pointer": 50, "typing": 2, "scroll": 1.0, "drag": 1.2, "video": 1.1, "full": 1.0},
}
WISHED_RATIO = {"pointer": 200, "typing": 15, "scroll": 4, "drag": 4, "video": 3, "full": 2}
#: Milliseconds of CPU time a second while nothing moves, by height of the screen.
IDLE_CPU = {1080: 2.0, 2160: 6.0}
#: The scenes that have limits, by height of the screen.
LIMITED_SCENES = {1080: set(CPU_RATIO["ffmpeg"]), 2160: {"idle", "typing", "scroll"}}
#: At equal quantizers: how far PSNR in motion may be from the peer's, in dB, and the bytes as a share of the peer's.
PSNR_DISTANCE = 0.5
BYTES_SHARE = 1.05
#: Milliseconds from capture to the last NAL unit: median, and 95 of 100.
LATENCY = {"typing": (2.5, 3.5), "scroll": (3.8, 5.0)}
SETTLING = 4.0
#: Bytes of each second after the first, as a share of the rate that was asked for; or one picture more than the rate.
RATE_SHARE = 1.10
RATES = (500_000, 1_000_000, 2_000_000, 8_000_000)
#: Seconds until the picture is sharp after a scroll, by bit rate; sharp is this SSIM.
SHARP_AFTER = {4_000_000: 1.0, 1_000_000: 3.0}
SHARP = 0.999
#: The mean difference that still text may have beside a film.
STILL_DIFFERENCE = 0.5
#: Peak memory in MB (10^6 bytes), by size and chroma format.
MEMORY = {((1920, 1080), "420"): 50.0, ((1920, 1080), "444"): 64.0, ((3840, 2160), "420"): 80.0}


class Check:
    """One limit, and what was measured."""

    def __init__(self, what, value, limit, is_kept):
        self.what, self.value, self.limit, self.is_kept = what, value, limit, is_kept


def at_most(what, value, limit, unit):
    return Check(what, "%.4g %s" % (value, unit), "at most %g %s" % (limit, unit), value <= limit)


def at_least(what, value, limit, unit):
    return Check(what, "%.4g %s" % (value, unit), "at least %g %s" % (limit, unit), value >= limit)
