"""The two builds that are compared: an earlier commit in a worktree of its own, and this tree.

All of it is in .build/gate and stays there, so that the next comparison compiles only what has changed:

    before/tree      a git worktree at the earlier commit
    before/build     its build; now/build is this tree's
    before/programs  the programs that are measured; now/programs are this tree's
"""

import os
import shutil
import subprocess

from bench_kit.bench import REPOSITORY, build
from bench_kit.processes import Missing

GATE = os.path.join(REPOSITORY, ".build", "gate")
#: Each build's own programs.
MEASURED = ["screenrelay", "screenrelay-capture", "bench-srtp"]
#: Programs that measure: this tree's for both builds.
MEASURING = ["screenrelay-scene", "bench-join", "bench-viewers"]


class Build:
    """A build's name and the folder of its programs."""

    def __init__(self, name, tree):
        self.name, self.tree, self.folder = name, tree, os.path.join(GATE, name)
        self.programs = os.path.join(self.folder, "programs")

    def make(self, say, names):
        """Builds the programs with these names; gives their folder."""
        package = os.path.join(self.tree, "Tools", "bench")
        made = build(lambda text: say("%s: %s" % (self.name, text)), names, package, os.path.join(self.folder, "build"))
        shutil.rmtree(self.programs, ignore_errors=True)
        os.makedirs(self.programs)
        for name in names:
            shutil.copy2(os.path.join(made, name), self.programs)


def prepare(base, say):
    """Builds the commit `base` and this tree; gives both builds."""
    tree = check_out(commit(base))
    before, now = Build("before", tree), Build("now", REPOSITORY)
    before.make(say, MEASURED)
    now.make(say, MEASURED + MEASURING)
    for name in MEASURING:
        shutil.copy2(os.path.join(now.programs, name), before.programs)
    return before, now


def commit(name):
    """The full hash of a commit."""
    try:
        return git("rev-parse", "--verify", "--quiet", name + "^{commit}").strip()
    except subprocess.CalledProcessError:
        raise Missing("there is no commit '%s'; a shallow clone lacks it" % name)


def check_out(revision):
    """The worktree, at this revision. Git writes only the files that differ, so that the build reuses the others."""
    tree = os.path.join(GATE, "before", "tree")
    try:
        if os.path.exists(os.path.join(tree, ".git")):
            git("-C", tree, "checkout", "--quiet", "--force", "--detach", revision)
        else:
            # It is still registered if .build was removed.
            git("worktree", "prune")
            git("worktree", "add", "--quiet", "--detach", tree, revision)
    except subprocess.CalledProcessError as error:
        raise Missing("git can't check out %s: %s" % (revision, error.stderr.strip()))
    return tree


def git(*arguments):
    try:
        return subprocess.run(["git", "-C", REPOSITORY, *arguments], check=True, capture_output=True, text=True).stdout
    except OSError as error:
        raise Missing("git can't be started: %s" % error)
