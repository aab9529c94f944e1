"""Runs every command of the README and the guides, and times the first picture of those that show one."""

import os
import subprocess
import sys

from bench_kit import options as of
from bench_kit.outcome import MISSED, OK, carry_out
from bench_kit.processes import Failure, Missing

from . import guides, kinds
from .peers import REPOSITORY
from .stage import Stage

AUDIO = ["no", "tone", "silent"]
#: Seconds that a command has; where sound is announced and never comes, what is looked for takes longer.
LIMIT, BRIEF_LIMIT, SILENT_LIMIT = 20, 15, 60


def parse():
    return of.Parser(
        "Tools/doccheck", """
        Runs every command of README.md and of the guides in Documentation, as they stand there, with a virtual screen,
        a home and ports of their own. Those of watching.md, publishing.md and pushing.md are run with a moving screen
        and a still one, without sound and with it. Prints a table with the seconds from each command's start until a
        player, a browser, a server or a picture's reader showed the first picture, or until the command was through.""",
        [of.parts("guides", guides.GUIDES, help="which of %s" % ", ".join(guides.GUIDES)),
         of.flag("--brief", "each guide once, watching, publishing and pushing with a moving screen without sound, and "
                 "nothing that builds for minutes"),
         of.choice("--screen", ["moving", "still"], None, "only this one (both)"),
         of.choice("--audio", AUDIO, None, "only this: no sound; a tone; or silent, sound that is offered while nothing "
                   "plays, which isn't among those that are tried otherwise; may be repeated (no and tone)",
                   is_many=True),
         of.Option("--only", "only commands with this text in them", "TEXT"),
         of.Option("--programs", "where the built programs are; without it, .build/release or else .build/debug",
                   "FOLDER")],
        notes="""
        A command that it can't run is named in its table with the reason; one for which it has no recipe
        (Tools/docchecking/kinds.py) counts as a fault.""",
        codes={0: "each did what it should", 1: "one did not", 70: "could not be run"}).parse_args()


def main():
    options = parse()
    return carry_out("doccheck", lambda folder: run(options, folder))


def run(options, folder):
    programs = options.programs or next(
        (path for path in (os.path.join(REPOSITORY, ".build", kind) for kind in ("release", "debug"))
         if os.access(os.path.join(path, "screenrelay"), os.X_OK)), None)
    if not programs:
        raise Missing("there are no programs in .build; 'swift build -c release' builds them")
    programs = os.path.realpath(programs)
    wanted = [one for one in guides.commands(REPOSITORY, options.guides)
              if not options.only or options.only in one.text]
    rows, count = [], 0
    for guide in dict.fromkeys(one.guide for one in wanted):
        for screen, audio in stages(options, guide):
            count += 1
            # A Unix socket's path is short by law (108 bytes).
            place = os.path.join(folder, str(count))
            os.mkdir(place)
            rows += on_stage(programs, place, screen, audio, [one for one in wanted if one.guide == guide], options)
    print("\n".join(table(rows)))
    failed = sum(has_failed for *_, has_failed in rows)
    left_out = sum(result.startswith("not run: ") for *_, result, _ in rows)
    print("\n%d of %d runs failed, %d were not run" % (failed, len(rows), left_out))
    return MISSED if failed else OK


def stages(options, guide):
    """The screens and sounds with which the commands of a guide are run."""
    if guide not in guides.SHOWING:
        return [("moving", "tone")]
    screens = [options.screen] if options.screen else ["moving"] if options.brief else ["moving", "still"]
    sounds = options.audio or (["no"] if options.brief else ["no", "tone"])
    return [(screen, audio) for screen in screens for audio in sounds]


def on_stage(programs, folder, screen, audio, commands, options):
    limit = BRIEF_LIMIT if options.brief else SILENT_LIMIT if audio == "silent" else LIMIT
    stage = Stage(programs, folder, screen == "moving", audio)
    try:
        for command, next_one in zip(commands, commands[1:] + [None]):
            count = len(stage.running)
            result, has_failed = one(stage, command, limit, options.brief)
            sys.stderr.write("%s, %s, sound: %s: %s: %s\n" % (command.place, screen, audio, command.text, result))
            yield command, screen, audio, result, has_failed
            if not next_one or next_one.group != command.group:
                stage.end_block()
            elif kinds.recipe(command) not in kinds.STAYING:
                stage.end_since(count)
    finally:
        stage.close()


def one(stage, command, limit, is_brief):
    """What the table says of the command, and whether that is a fault."""
    reason = kinds.why_left_out(command, is_brief)
    if reason:
        return "not run: " + reason, False
    recipe = kinds.recipe(command)
    if not recipe:
        return "not run: there is no recipe for it", True
    try:
        seconds, said = recipe(stage, command, limit)
    except (Failure, subprocess.SubprocessError) as error:
        return "failed: %s" % error, True
    except OSError as error:
        return "failed: could not be tried: %s" % error, True
    return ", ".join(filter(None, ["" if seconds is None else "%.2f s" % seconds, said and "(%s)" % said])), False


def table(rows):
    yield "| command | | screen | sound | seconds |"
    yield "| --- | --- | --- | --- | --- |"
    order = {}
    for command, *_ in rows:
        order.setdefault((command.place, command.text), len(order))
    for command, screen, audio, result, _ in sorted(rows, key=lambda row: order[row[0].place, row[0].text]):
        yield "| %s | `%s` | %s | %s | %s |" % (
            command.place, command.text.replace("|", "\\|"), screen, audio, result.replace("|", "\\|"))


sys.exit(main())
