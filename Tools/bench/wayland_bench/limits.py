"""What capture has to reach on a Wayland desktop; every limit is here and nowhere else."""

#: Milliseconds of CPU time a second, by scene.
CPU = {"idle": 1.0, "pointer": 5.0}
#: How many times less CPU time than GStreamer, by scene.
CPU_RATIO = {"typing": 15.0, "scroll": 3.0, "full": 1.0}
#: For the same scenes: the new pictures that capture sends, as a share of those that gstreamer-changes records, or of
#: those drawn if they are fewer. With fewer, capture's CPU time says nothing. A slow compositor sends few to any receiver.
NEW_SHARE = 0.8
#: Peak memory in MB (10^6 bytes) without the desktop's buffers, in every scene.
MEMORY = 60.0
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
