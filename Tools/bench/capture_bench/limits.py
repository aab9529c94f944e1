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
#: Peak memory in MB (10^6 bytes), by size and chroma format.
MEMORY = {((1920, 1080), "420"): 50.0, ((1920, 1080), "444"): 64.0, ((3840, 2160), "420"): 80.0}
#: ms by which 99 % of the messages of a replayed recording may be off.
REPLAY_OFF = 5.0

# On a Wayland desktop.

#: Milliseconds of CPU time a second, by scene.
WAYLAND_CPU = {"idle": 1.0, "pointer": 5.0}
#: How many times less CPU time than GStreamer, by scene.
WAYLAND_RATIO = {"typing": 15.0, "scroll": 3.0, "full": 1.0}
#: For the same scenes: the new pictures that capture sends, as a share of those that gstreamer-changes records, or of
#: those drawn if they are fewer. With fewer, capture's CPU time says nothing. A slow compositor sends few to any receiver.
NEW_SHARE = 0.8
#: Peak memory in MB (10^6 bytes) without the desktop's buffers, in every scene.
WAYLAND_MEMORY = 60.0
#: The SSIM of a decoded picture's luma at rest, against the compositor's.
AT_REST = 0.999
#: The PSNR of its Cb and of its Cr in dB, against the compositor's in 4:2:0. It isn't SSIM, which is close to 1 for
#: planes that are almost flat, even if the two are exchanged. Refinement ends at a quantizer of 14, whose steps are
#: 3.25 levels: an error that is spread evenly over a step has 48.7 dB (a mean square of 3.25 * 3.25 / 12). Rounding,
#: and coefficients below a step that are left out, cost some of it. From 45 dB on, a difference can't be seen.
CHROMA_AT_REST = 45.0
#: Milliseconds from painting to the host's receipt, and from painting to a browser's pixels
#: (`Tools/bench/latency --beside wayland`), at p50, above those on an X display. What any receiver waits for the
#: compositor isn't counted: without a GPU, it reads the picture back for many milliseconds.
ABOVE_X11 = 3.0
