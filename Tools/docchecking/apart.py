"""How shares with more than a link, and hosts, captures and recordings apart from each other, are run here."""

import os
import re
import shlex
import time

from bench_kit.processes import Failure, free_port, wait_until

from . import peers
from .peers import FFmpeg
from .recipes import share
from .running import run, words_here
from .stage import SIZE, START, Screenrelay

PASSWORD = "sesame"
#: Seconds until a reader is started once more.
TRY = 4
#: Sound that is louder than silence.
HEARD = ["-af", "silenceremove=start_periods=1:start_threshold=-40dB"]


def join(stage, command, limit):
    """A share that joins another server's room, where a member waits for its picture."""
    url = re.search(r"(skyrtc|socketio):\S+", command.text)[0]
    port = str(free_port())
    if url.startswith("skyrtc:"):
        server = peers.client(stage, "rtc", "skyrtc_server", ["--port", port])
        server.event("listening", time.monotonic() + START)
        member = peers.client(stage, "rtc", "skyrtc_client", ["ws://127.0.0.1:%s/ws" % port, "ROOM", "--pictures-only"])
        member.event("joined", time.monotonic() + START)
        here, event = "skyrtc:ws://127.0.0.1:%s/ws#ROOM" % port, "video"
    else:
        server = peers.client(stage, "socketio5", "pair_server", ["--port", port])
        server.event("listening", time.monotonic() + START)
        member = peers.client(stage, "socketio5", "socketio_client", [
            "--url", "http://127.0.0.1:" + port, "--room", "ROOM", "--transport", "websocket"])
        member.event("connected", time.monotonic() + START)
        here, event = "socketio:http://127.0.0.1:%s#ROOM" % port, "frame"
    one = stage.start(words_here(stage, command.text.replace(url, here)), stage.environment)
    return member.event(event, one.begun + limit)[0] - one.begun, "a member that aiortc makes"


def password(stage, command, limit):
    """A share whose password is typed on a terminal."""
    # A shell between would end by Ctrl-C itself.
    one = stage.start(["script", "-qec", "exec " + command.text, "/dev/null"], stage.environment)
    for question in ("Password for the room: ", "again: "):
        _wait_for_question(one, question, limit)
        one.tell(PASSWORD)
    shared = Screenrelay(one)
    url = shared.rtsp.replace("ROOM-PASSWORD", PASSWORD)
    seconds = FFmpeg(stage, ["-i", url]).first("video", one.begun + limit) - one.begun
    # Ctrl-C of this terminal, not ours.
    one.tell("\x03")
    if one.child.wait(limit) != 0:
        raise Failure("exit code %d: %s" % (one.child.returncode, one.last_words()))
    return seconds, ""


def _wait_for_question(one, question, limit):
    deadline = time.monotonic() + limit
    while question.encode() not in one.said:
        if one.child.poll() is not None or time.monotonic() > deadline:
            raise Failure("it doesn't ask '%s': %s" % (question, one.last_words()))
        time.sleep(0.01)


def window(stage, command, limit):
    """A share of a window, which a player has opened with the name that is asked for."""
    name = re.search(r"--window (\S+)", command.text)[1]
    stage.start(["ffplay", "-v", "error", "-an", "-window_title", name, "-f", "lavfi", "testsrc=size=320x240"],
                {**stage.environment, "SDL_AUDIODRIVER": "dummy"})

    def is_there():
        return name in run(stage, "screenrelay share --list", limit)

    wait_until(is_there, limit, "a window %s" % name)
    return share(stage, command, limit)


def record_share(stage, command, limit):
    path = _new(stage, command)
    result = share(stage, command, limit)
    return _recorded(stage, stage.running[-2], path, limit, result)


def host(stage, command, limit):
    """A host to which captures, sound and recordings of the same block come, or which records one of its own."""
    path = _new(stage, command) if "--record " in command.text else None
    one = stage.start(words_here(stage, command.text), stage.environment)
    stage.block.hosts.append((command.text, Screenrelay(one)))
    if not path:
        return None, "printed its link"
    stage.start(["screenrelay", "capture"], stage.environment)
    result = watch(stage, stage.block.hosts.pop()[1].rtsp, one.begun, limit), ""
    return _recorded(stage, one, path, limit, result)


def capture(stage, command, limit):
    """A capture, seen through the host that its link leads to; or alone, if it is there to record."""
    if "--record " in command.text:
        path = os.path.join(stage.folder, _new(stage, command))
        one = stage.start(words_here(stage, command.text), stage.environment)
        wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 20_000, limit, "a recording of some frames")
        return _recorded(stage, one, os.path.basename(path), limit, (None, ""))
    url = track(stage, command)
    one = stage.start(words_here(stage, command.text), stage.environment)
    return watch(stage, url, one.begun, limit), ""


def sound(stage, command, limit):
    """The program for sound, heard through a host to which a capture is connected, too."""
    url = track(stage, command)
    link = re.search(r"--link \S+", command.text)
    stage.start(["screenrelay", "capture"] + words_here(stage, link[0] if link else ""), stage.environment)
    one = stage.start(words_here(stage, command.text), stage.environment)
    return watch(stage, url, one.begun, limit, "audio", HEARD), "the tone is heard"


def replay(stage, command, limit):
    """A replay, seen through a host. The recordings here are of seconds, and the places in them likewise."""
    text = command.text.replace("--from 2m", "--from 1s").replace("--pause-at 5400", "--pause-at 45")
    recording(stage, text.split()[-1], limit)
    if "--link " not in text and not stage.block.hosts:
        raise Failure("there is no host in its block")
    url = track(stage, command)
    one = stage.start(words_here(stage, text), stage.environment)
    seconds = watch(stage, url, one.begun, limit)
    if "--pause-at" not in text and one.child.wait(limit) != 0:
        raise Failure("exit code %d: %s" % (one.child.returncode, one.last_words()))
    return seconds, ""


def inspect_link(stage, command, limit):
    """An inspection in a host's place."""
    one = stage.start(words_here(stage, command.text), stage.environment)
    stage.start(["screenrelay", "capture"] + words_here(stage, re.search(r"--link \S+", command.text)[0]),
                stage.environment)
    shown = one.wait(lambda when, line: when if "picture" in line else None, one.begun + limit, "picture")
    return shown - one.begun, ""


def view(stage, command, limit):
    """A viewer without a browser, of the share or of a recording, for some seconds; it reports with a window, too."""
    recording(stage, "screen.srr", limit)
    place = stage.share.place.replace("://", "://%s@" % stage.share.token, 1)
    text = command.text.replace("https://TOKEN@HOST/PATH", "%s/whep/%s" % (place, stage.share.room)).replace(
        "rtsp://viewer:TOKEN@HOST:8554/screen", stage.share.rtsp).replace("LINK", shlex.quote(stage.share.link))
    with open(os.path.join(stage.folder, "link.txt"), "w") as file:
        file.write(stage.share.link + "\n")
    said = run(stage, text + ("" if "--seconds" in text else " --seconds 5 --stats text"), limit)
    if "%dx%d" % SIZE not in said and '"width":%d,"height":%d' % SIZE not in said:
        raise Failure("it said: " + said)
    return None, "said the picture's size"


def recording(stage, name, limit):
    """Makes a recording of some seconds with this name, unless there is one."""
    path = os.path.join(stage.folder, name)
    if os.path.exists(path):
        return
    if not name.endswith(".srr"):
        recording(stage, "screen.srr", limit)
        run(stage, "screenrelay export screen.srr -o %s" % name, limit)
        return
    one = stage.start(["screenrelay", "share", "--record", name], stage.environment)
    reader = FFmpeg(stage, ["-i", Screenrelay(one).rtsp])
    began = reader.first("video", one.begun + limit)
    wait_until(lambda: reader.talker.lines[-1][0] - began > 2.5, limit, "a recording of some seconds")
    _recorded(stage, one, name, limit, (None, ""))


def _new(stage, command):
    """The name of the file to record into, which must not exist yet."""
    name = re.search(r"--record (\S+)", command.text)[1]
    if os.path.exists(os.path.join(stage.folder, name)):
        os.remove(os.path.join(stage.folder, name))
    return name


def _recorded(stage, one, name, limit, result):
    """Ends what records, and has the recording read."""
    one.stop()
    if one.child.returncode != 0:
        raise Failure("exit code %d: %s" % (one.child.returncode, one.last_words()))
    said = run(stage, "screenrelay inspect --summary %s" % name, limit)
    pictures = re.search(r"\bpictures (\d+):", said)
    if not pictures or int(pictures[1]) == 0:
        raise Failure("the recording has no picture: " + said)
    return result[0], ", ".join(filter(None, [result[1], "recorded %s pictures" % pictures[1]]))


def track(stage, command):
    """Where the track is watched to which the command's link leads; its block may have no host."""
    link = re.search(r"--link (\S+)", command.text)
    if not stage.block.hosts or (link and not any(link[1].split(":")[0] in text for text, _ in stage.block.hosts)):
        started_host = stage.start(
            ["screenrelay", "host"] + words_here(stage, "--link " + link[1] if link else ""), stage.environment)
        return Screenrelay(started_host).rtsp
    text, found = stage.block.hosts[-1]
    track = link and re.search(r"--track (\S+)=%s" % re.escape(link[1]), text)
    return found.rtsp + ("/" + track[1] if track else "")


def watch(stage, url, begun, limit, kind="video", filter=()):
    """Seconds until FFmpeg has the first of it; the track is there once its source is."""
    while True:
        count = len(stage.running)
        try:
            # What isn't announced yet doesn't come later.
            deadline = min(begun + limit, time.monotonic() + TRY)
            return FFmpeg(stage, ["-i", url, *filter]).first(kind, deadline) - begun
        except Failure:
            if time.monotonic() > begun + limit:
                raise
            stage.end_since(count)
            time.sleep(0.05)
