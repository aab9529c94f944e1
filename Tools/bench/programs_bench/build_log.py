"""Prints the log of a build: twelve bursts a second, of 1 to 20 lines each. The argument is another seed."""

import random
import sys
import time

FOLDERS = ["Sources/Host/Ingest", "Sources/RTC/WebRTC", "Sources/Capture/CaptureEngine", "Sources/Media/H264", "Tests"]
WORDS = ["Track", "Frame", "Sender", "Reader", "Pacer", "Picture", "Motion", "Session", "Socket", "Clock", "Ring"]
random.seed(int(sys.argv[1]) if len(sys.argv) > 1 else 45)
done = 0
next_time = time.monotonic()
while True:
    lines = []
    for _ in range(random.randint(1, 20)):
        done += 1
        name = "".join(random.choices(WORDS, k=random.randint(1, 3)))
        if random.random() < 0.05:
            lines.append("\033[1;35mwarning:\033[0m variable '%s' was never used; consider replacing it" % name.lower())
        lines.append("[%5d/20000] Compiling %s/%s.swift -O -module-name %s -o .build/%x.o"
                     % (done, random.choice(FOLDERS), name, random.choice(WORDS), random.getrandbits(40)))
    print("\n".join(lines), flush=True)
    # What was stopped for a while goes on, and doesn't make up for it.
    next_time = max(next_time + random.uniform(0.5, 1.5) / 12, time.monotonic())
    time.sleep(max(0.0, next_time - time.monotonic()))
