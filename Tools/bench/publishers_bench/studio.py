"""OBS Studio: its settings in a folder of their own, and its process on an X server of its own, without a person."""

import json
import os
import signal
import wave

import numpy

from bench_kit.display import Display
from bench_kit.processes import Process, own_settings, read
from sound_bench import tone

#: What the profile, the scene collection and the scene are called.
NAME = "bench"
RATE, SOUND_RATE = 30, 48_000
#: The bit rate of OBS's simple mode, in kbit/s.
BIT_RATE = 2500
#: Seconds of the tone, which OBS plays over and over.
TONE_LENGTH = 60
#: No questions of a first or of an interrupted run. A version doesn't know all of these options, and ignores those.
OPTIONS = ["--startstreaming", "--minimize-to-tray", "--multi", "--disable-updater", "--disable-shutdown-check",
           "--disable-missing-files-check", "--collection", NAME, "--profile", NAME, "--scene", NAME]
#: Asks and shows nothing at the first start. Up to OBS 30, all of it is in global.ini; later, most is in user.ini.
SETTINGS = """[General]
FirstRun=true
InfoIncrement=999
LastVersion=503316480
EnableAutoUpdates=false

[Basic]
Profile={name}
ProfileDir={name}
SceneCollection={name}
SceneCollectionFile={name}

[BasicWindow]
PreviewEnabled=false
"""
#: What OBS has for a new profile, except the sizes. The encoder's options count only with UseAdvanced.
PROFILE = """[General]
Name={name}

[Output]
Mode=Simple

[SimpleOutput]
VBitrate={bit_rate}
ABitrate=160
StreamEncoder=x264
Preset=veryfast
UseAdvanced={is_advanced}
x264Settings={x264}

[Video]
BaseCX={width}
BaseCY={height}
OutputCX={width}
OutputCY={height}
FPSType=0
FPSCommon={rate}

[Audio]
SampleRate={sound_rate}
ChannelSetup=Stereo
"""


class Studio:
    """OBS, which shows the X display `screen` and plays a tone, and streams from its start on.

    `x264` are options of the encoder beside OBS's own, and `prefix` is what starts it.
    """

    def __init__(self, folder, screen, size, server, key, x264="", prefix=()):
        self.folder, self._prefix, self.process = os.path.join(folder, "obs"), list(prefix), None
        # Each start has a log of its own.
        self._log, self._starts = os.path.join(folder, "obs-%d.log"), 0
        _write_settings(self.folder, screen, size, {"server": server, "key": key, "use_auth": False}, x264)
        self._display = Display((1024, 768), self.folder)
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def start(self):
        """Starts it, again after `kill`."""
        nowhere = os.path.join(self.folder, "none")
        own = {**own_settings(self.folder), "XDG_CONFIG_HOME": self.folder, "DISPLAY": self._display.name,
               "LIBGL_ALWAYS_SOFTWARE": "1", "QT_QPA_PLATFORM": "xcb",
               # It asks neither the user's sound server nor session, and no server for news.
               "PULSE_SERVER": "unix:" + nowhere, "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + nowhere,
               "https_proxy": "http://127.0.0.1:9"}
        self._starts += 1
        self.process = Process("OBS", [*self._prefix, "obs", *OPTIONS], self._log % self._starts, own)

    def kill(self):
        """Ends it by SIGKILL."""
        self.process.stop(signal.SIGKILL)

    def require_running(self):
        self.process.require_running()

    def last_words(self):
        return self.process.last_words()

    def log(self):
        """The lines of its log since its last start."""
        return read(self.process.log_path).splitlines()

    def close(self):
        if self.process:
            # By SIGTERM it would ask whether the stream is to end.
            self.kill()
        self._display.close()


def _write_settings(folder, screen, size, service, x264):
    profile, scenes = (os.path.join(folder, "obs-studio", "basic", *one) for one in (("profiles", NAME), ("scenes",)))
    for one in (profile, scenes):
        os.makedirs(one)
    sound = os.path.join(folder, "tone.wav")
    _write_tone(sound)
    settings = SETTINGS.format(name=NAME)
    files = {
        os.path.join(folder, "obs-studio", "global.ini"): settings,
        os.path.join(folder, "obs-studio", "user.ini"): settings,
        os.path.join(profile, "basic.ini"): PROFILE.format(
            name=NAME, bit_rate=BIT_RATE, is_advanced="true" if x264 else "false", x264=x264, width=size[0],
            height=size[1], rate=RATE, sound_rate=SOUND_RATE),
        os.path.join(profile, "service.json"): json.dumps({"type": "rtmp_custom", "settings": service}),
        os.path.join(scenes, NAME + ".json"): json.dumps(_scenes(screen, sound))}
    for path, text in files.items():
        with open(path, "w") as file:
            file.write(text)


def _write_tone(path):
    # Each second has whole periods, so that it has no seam when it begins again.
    second = (tone.second(SOUND_RATE) * 32767).astype(numpy.int16).tobytes()
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SOUND_RATE)
        file.writeframes(second * TONE_LENGTH)


def _scenes(screen, sound):
    """A scene collection: one scene of the X display, by its shared memory, and of a media source."""
    sources = [
        {"id": "xshm_input", "name": "screen",
         "settings": {"advanced": True, "server": screen, "screen": 0, "show_cursor": False}},
        {"id": "ffmpeg_source", "name": "tone", "mixers": 255, "volume": 1.0,
         "settings": {"is_local_file": True, "local_file": sound, "looping": True, "hw_decode": False}}]
    items = [{"id": number, "name": one["name"], "visible": True, "pos": {"x": 0.0, "y": 0.0},
              "scale": {"x": 1.0, "y": 1.0}, "align": 5, "bounds_type": 0}
             for number, one in enumerate(sources, 1)]
    scene = {"id": "scene", "name": NAME, "settings": {"items": items, "id_counter": len(items), "custom_size": False}}
    return {"name": NAME, "current_scene": NAME, "current_program_scene": NAME, "scene_order": [{"name": NAME}],
            "sources": [*sources, scene]}
