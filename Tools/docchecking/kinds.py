"""Which recipe a documented command has, and what is not run, and why."""

import re

from . import apart, recipes, steps, wayland

#: What can't be run here, and why.
LEFT_OUT = [
    (r"^rtmps:", "needs a certificate of an authority that the system trusts; ServerCertificateTests has one"),
    (r"^Tools/test$", "runs every test, and this among them"),
    (r"^(Tools/release/|apt install \./)", "needs root; Tools/release/package --check installs the packages"),
    (r"^(systemctl|loginctl) ", "needs systemd in the user's session; ServiceUnitTests has it read the units"),
    (r"^sudo (-u screenrelay |systemctl|useradd|install .*packaging/)", "needs systemd; ServiceUnitTests reads the units"),
    (r"^podman ", "needs podman and the packages; Tools/release/image --check runs the images"),
    (r"^screenrelay present ", "needs a viewer that asks; BrowserPresentingTests has one"),
    (r"^screenrelay (admit|refuse) ", "needs a viewer that waits; RoomCommandTests has one"),
    (r"coturn", "needs root; Tools/bench/reach nat runs coturn with this configuration"),
]
#: What is not run with --brief.
SLOW = r"^(Tools/quickstart|swift build)\b"

BLOCKS = [
    (r"^(ffplay|mpv) .*rtsp://", recipes.player),
    (r"^screenrelay snapshot |\| screenrelay snapshot ", recipes.snapshot),
    (r"^screenrelay view |\| screenrelay view ", apart.view),
    (r"^screenrelay share .*--join ", apart.join),
    (r"^screenrelay share .*--record ", apart.record_share),
    (r"^screenrelay share .*--password$", apart.password),
    (r"^screenrelay share .*(--(monitor|window) any|--monitor new|--ask)\b", wayland.share),
    (r"^screenrelay share .*--window ", apart.window),
    (r"^screenrelay share\b", recipes.share),
    (r"^screenrelay push (add|stop|restart|reload)\b", recipes.control),
    (r"^curl .*/api/pushes$", recipes.interface),
    (r"^screenrelay host .*--source ", recipes.sources),
    (r"^screenrelay host .*--presenters", recipes.host),
    (r"^screenrelay host\b", apart.host),
    (r"^screenrelay capture .*--monitor (any|new)\b", wayland.capture),
    (r"^screenrelay capture\b", apart.capture),
    (r"^screenrelay sound --list$", steps.shell),
    (r"^screenrelay sound\b", apart.sound),
    (r"^screenrelay replay\b", apart.replay),
    (r"^screenrelay inspect .*--link ", apart.inspect_link),
    (r"^screenrelay inspect\b", steps.inspect),
    (r"^screenrelay export\b", steps.export),
    (
        r"^screenrelay (pause|resume|mute|unmute|rate|sharpen|status|rooms|remove|pointing|chat|lock|unlock|link"
        r"|stop)\b",
        steps.steer,
    ),
    (r"^screenrelay push list\b", steps.push_list),
    (r"^curl ", steps.web),
    (r"^screenrelay doctor --browser$", steps.doctor_browser),
    (r"^screenrelay doctor\b", steps.doctor),
    (r"^(mkdir|\(umask|screenrelay (config|man|completion|systemd-unit)\b)", steps.shell),
    (r"^Tools/quickstart$", steps.quickstart),
    (r"^(Tools/setup|swift build)\b", steps.repository),
    (r"^sudo install ", steps.install),
    (r"^sudo apt-get install ", steps.packages),
]
TABLES = [
    (r"^http://HOST:PORT/#", recipes.page),
    (r"^POST http://HOST:PORT/whep/", recipes.whep),
    (r"^rtsp://viewer:TOKEN@", recipes.gstreamer),
    (r"^http://HOST:PORT$", recipes.socketio),
    (r"^/(ws)?$", recipes.skyrtc),
    (r"^(GET )?/snapshot\.", recipes.picture),
    (r"/whip/ROOM/TRACK$", recipes.publish),
    (r"^(rtmp|srt|rtsp|whip|janus|file|object):", recipes.push),
]
#: What they start goes on while other commands of the block follow, which may need it.
STAYING = [recipes.control, steps.push_list, apart.host, apart.capture, steps.steer]


def recipe(command):
    """The recipe for a command; None if there is none."""
    for pattern, found in TABLES if command.is_in_table else BLOCKS:
        if re.search(pattern, command.text):
            return found
    return None


def why_left_out(command, is_brief):
    """Why a command is not run; None if it is."""
    if is_brief and not command.is_in_table and re.search(SLOW, command.text):
        return "builds for minutes; is run without --brief"
    return next((reason for pattern, reason in LEFT_OUT if re.search(pattern, command.text)), None)
