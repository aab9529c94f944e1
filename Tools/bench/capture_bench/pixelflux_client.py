"""Records a display by pixelflux, one stream of whole pictures: WIDTH HEIGHT CRF REFINES FILE, where REFINES is 1 for
its cleanup of a still screen, else 0. Run by pixelflux's own Python."""

import signal
import sys
import threading

import pixelflux

width, height, crf = (int(word) for word in sys.argv[1:4])
output = open(sys.argv[5], "wb", buffering=0)
done = threading.Event()
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda *_: done.set())

settings = pixelflux.CaptureSettings()
settings.capture_width, settings.capture_height = width, height
settings.capture_x = settings.capture_y = 0
settings.auto_adjust_screen_capture_size = False
settings.capture_cursor = True
settings.target_fps = 30.0
settings.codec = "h264"
settings.use_cpu = True
settings.use_wayland = False
settings.encode_node_index = -1
settings.video_fullframe = True
settings.video_crf = crf
settings.omit_stripe_headers = True
settings.use_paint_over_quality = sys.argv[4] == "1"

capture = pixelflux.ScreenCapture()
capture.start_capture(lambda frame: output.write(memoryview(frame)), settings)
# Python handles signals between waits.
while not done.wait(0.5):
    pass
capture.stop_capture()
output.close()
