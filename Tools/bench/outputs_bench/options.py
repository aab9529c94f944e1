"""The command line."""

from bench_kit import options as of

from . import killed, narrow, ten, tree

#: What is measured of each part: `missing`, `measure`, `tell` and `checks`, and the size of its screen.
PARTS = {"ten": ten, "narrow": narrow, **killed.COURSES, "tree": tree}


def parse(arguments):
    return of.Parser(
        "outputs", """
        Measures the outputs of a share: what they cost, what they do on a narrow path, and how soon they are back after
        a server was killed. CPU time is what the kernel counted for all threads while a scene moved. Writes
        outputs.json.""", [
            of.parts("parts", PARTS, ["ten"]),
            of.choice("--scene", of.SCENES, "scroll", "what ten shows, of screenrelay-scene", "NAME"),
            of.seconds(20, 1, 600, "how long the scene counts in ten"), of.runs(3),
            of.size(None, "of the screen (1920x1080; janus, whip and tree 1280x720)"), of.bit_rate(),
            of.number("--viewers", 5, 2, 50, "N", "tree: viewers at each server"),
            of.number("--apart", 2.5, 0.0, 60, "S", "tree: time between two joins; a server gets at most one key frame "
                      "in 2 s"),
            of.out("outputs"), of.CHECK, of.programs(), of.KEEP],
        notes="""
        parts:
          ten     a share without outputs, with eight of its frames as they are, and with two more that are
                  re-encoded, over RTMP to nginx; beside them FFmpeg, which sends one of them from a file as often
          narrow  a push of 1 Mbit/s to nginx over a path that carries 300 kbit/s for 40 s, with an adaptive rate and
                  without; needs root, for network namespaces
          janus   a scrolled text, pushed to a room of the real Janus' VideoRoom plugin, with a PIN and with signed
                  tokens; aiortc is its subscriber
          whip    the same to the WHIP server of the tests, in Python with aiortc, which decodes what it gets
          tree    a share pushed to a Janus (alone) and to simple-whip-server in front of another Janus (whip), whose
                  publisher a third Janus (third) shows as a remote publisher; viewers join at each, one after another,
                  of whom the first decodes. Then alone and whip are killed and started again; about two minutes

        Limits of tree (--check): each viewer has a frame within %d ms of being connected, the status names each killed
        server, the viewers elsewhere miss nothing, and the push is connected again. In janus and whip, the server is
        killed with SIGKILL and started again after %s s: the time until a frame is decoded there again counts from the
        kill, and from when the server accepted connections again. Beside it, the share pushes to URLs with a wrong
        secret, and must report once that each is refused. Tools/setup --bench unpacks nginx, Janus and
        simple-whip-server.""" % (tree.LIMIT, ", ".join("%g" % away for away in killed.AWAY)),
        codes={77: "a part was skipped, and why was printed"}).parse_args(arguments)
