"""Tests the command line: what is read, and that a mistake is one line with the exit code 64."""

import contextlib
import io
import unittest

from . import options as of

OPTIONS = [of.parts("parts", ["one", "two"]), of.names("--scenes", ["a", "b", "c"], "which", groups={"none": []}),
           of.number("--runs", 3, 1, 100, "N", "runs"), of.number("--low", 500, 10.0, 1e6, "KBITS", "link"),
           of.numbers("--loss", "1,5", 0, 90, "percent", to="losses"), of.size(), of.bit_rate(),
           of.choice("--by", ["x", "y"], None, "how"), of.SHARE, of.CHECK]


def parse(*words):
    return of.Parser("test", "Measures 100 % of it.", OPTIONS, notes="two:\n  columns  stay").parse_args(words)


class Options(unittest.TestCase):
    def refused(self, *words):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
            parse(*words)
        self.assertEqual(ended.exception.code, 64)
        return said.getvalue()

    def test_defaults(self):
        found = parse()
        self.assertEqual((found.parts, found.scenes, found.runs, found.low, found.losses, found.size, found.bit_rate),
                         (["one", "two"], ["a", "b", "c"], 3, 500, [1, 5], (1280, 720), 4_000_000))
        self.assertEqual((found.by, found.share, found.check), (None, [], False))

    def test_what_is_given(self):
        found = parse("two", "--scenes", "c,a,c", "--loss", "0.5", "--size", "640x360", "--bitrate", "600k",
                      "--share=--log=rate", "--share=--x")
        self.assertEqual((found.parts, found.scenes, found.losses, found.size, found.bit_rate, found.share),
                         (["two"], ["c", "a"], [0.5], (640, 360), 600_000, ["--log=rate", "--x"]))
        self.assertEqual(parse("--scenes", "none").scenes, [])

    def test_a_mistake_names_the_option_the_value_and_what_is_right(self):
        for words, line in ((["--runs", "0"], "--runs 0: from 1 to 100"), (["--runs", "1.5"], "--runs 1.5: not a whole number"),
                            (["--loss", "1,x"], "--loss 1,x: not numbers; write them like 1,5"),
                            (["--size", "big"], "--size big: write it like 1280x720"),
                            (["--by", "z"], "--by z: none of x, y"), (["three"], "three: none of one, two"),
                            (["--scenes", "a,d"], "--scenes a,d: 'd' is none of a, b, c, none")):
            self.assertEqual(self.refused(*words), "Tools/bench/test: %s; see --help\n" % line)
        self.assertIn("--runs", self.refused("--runs"))

    def test_help(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), self.assertRaises(SystemExit):
            parse("--help")
        for text in ("100 % of it", "\n  columns  stay\n", "64 usage", "(1,5)"):
            self.assertIn(text, said.getvalue())


if __name__ == "__main__":
    unittest.main()
